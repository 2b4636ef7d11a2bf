"""Files on a command line: by name alone, or behind `-f` as kubectl's users write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .running import ROOT, run

SET = str(ROOT / "examples" / "minimal.yaml")
OTHER = str(ROOT / "examples" / "kai-queue.yaml")
CONFIG = ("--config", str(ROOT / "examples" / "operator-configuration.yaml"))


@pytest.mark.parametrize(
    "command", [["compile"], ["lint"], ["graph"], ["fit", "--nodes", str(ROOT / "examples" / "nodes.yaml")]], ids=lambda words: words[0]
)
def test_a_file_behind_f_is_the_same_as_its_name_alone(command: list[str]) -> None:
    assert run(*command, "-f", SET) == run(*command, SET)


def test_both_ways_can_be_mixed() -> None:
    assert run("compile", SET, "-f", OTHER, *CONFIG) == run("compile", SET, OTHER, *CONFIG)


@pytest.mark.parametrize("command", ["compile", "lint", "graph"])
def test_without_any_file_it_says_what_to_name(command: str) -> None:
    ended = run(command)
    assert ended.code == 2
    assert "FILE is missing: specify a manifest, a directory, or - for standard input." in ended.err


@pytest.mark.parametrize("format", ["json", "yaml", "name"])
def test_a_plan_is_not_kept_in_a_file_that_is_called_like_a_format(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run("plan", SET, "-o", format)
    assert ended.code == 2
    assert f"write ./{format}" in " ".join(ended.err.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["compile", "lint", "graph"])
def test_too_many_objects_name_the_flag_that_allows_more(command: str) -> None:
    ended = run(command, SET, "--max-objects", "2")
    assert ended.code == 1
    assert "a higher limit (--max-objects)" in ended.err
    assert run(command, SET, "--max-objects", "20").code == 0
