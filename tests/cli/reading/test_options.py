"""Files that options name, and standard input, which can be only one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..running import ROOT, run

SET = str(ROOT / "examples" / "minimal.yaml")
CONFIG = str(ROOT / "examples" / "operator-configuration.yaml")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.yaml").write_text("# nothing\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["compile", SET, "--snapshot", "empty.yaml"],
        ["compile", SET, "--snapshot", "-"],
        ["lint", SET, "--old", "empty.yaml"],
        ["fit", SET, "--nodes", "empty.yaml"],
    ],
    ids=" ".join,
)
def test_an_empty_file_does_not_mean_that_nothing_exists(arguments: list[str]) -> None:
    name = "<stdin>" if arguments[-1] == "-" else "empty.yaml"
    assert run(*arguments) == (2, "", f"grove: {name}: empty; kubectl prints a List even where nothing exists\n")


@pytest.mark.parametrize(
    "arguments", [["compile", "-", "--snapshot", "-"], ["lint", "-", "--old", "-"], ["compile", "-", "--config", "-"]], ids=" ".join
)
def test_standard_input_is_read_once(arguments: list[str]) -> None:
    ended = run(*arguments, stdin=Path(SET).read_bytes())
    assert ended == (2, "", "grove: <stdin>: already read; only one of the inputs can be -\n")


@pytest.mark.parametrize("option", ["--snapshot", "--config", "--rules"])
def test_a_variable_that_nobody_set_is_no_option_left_out(option: str) -> None:
    ended = run("compile", SET, option, "")
    assert (ended.code, ended.out, "the name of a file is empty" in ended.err) == (2, "", True)


def test_a_set_is_no_configuration() -> None:
    ended = run("compile", CONFIG, "--config", SET)
    assert ended == (2, "", f"grove: {SET}: expected one OperatorConfiguration, found a PodCliqueSet\n")


def test_of_a_file_that_cannot_be_read_nobody_says_that_it_has_no_set() -> None:
    ended = run("compile", "-", stdin=b"a: [")
    assert (ended.code, "yaml/syntax" in ended.err, "input/no-set" in ended.err) == (1, True, False)
