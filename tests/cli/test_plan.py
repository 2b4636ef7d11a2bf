"""`grove plan`, and carrying out what it kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from .in_memory import Bench, config_map


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_plan_says_what_would_be_done(bench: Bench) -> None:
    ended = bench.run("plan", bench.file(config_map("a")))
    assert ended == (0, "wave 1\n  created     ConfigMap/shop/a\n\nPlan: 1 created\n", "")
    assert bench.writes() == []


def kept(bench: Bench, *names: str) -> str:
    path = str(bench.folder / "change.plan")
    assert bench.run("plan", bench.file(*(config_map(name, x="1") for name in names)), "-o", path).code == 0
    return path


def test_a_plan_that_was_kept_is_carried_out(bench: Bench) -> None:
    ended = bench.run("apply", "--plan", kept(bench, "a", "b"))
    assert ended == (0, "configmap/a created\nconfigmap/b created\n", "")
    assert bench.find("ConfigMap", "a")["data"] == {"x": "1"}


def test_a_plan_that_no_longer_holds_is_refused_with_every_reason(bench: Bench) -> None:
    path = kept(bench, "a", "b", "c")
    bench.cluster.seed(config_map("a"), config_map("b"))
    bench.writes()
    ended = bench.run("apply", "--plan", path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines() == [f"grove: {path}: no longer holds: ConfigMap/shop/{name} exists by now" for name in "ab"]
    assert bench.writes() == []


def test_a_plan_of_another_input_is_refused(bench: Bench) -> None:
    path = kept(bench, "a")
    ended = bench.run("apply", "--plan", path, bench.file(config_map("z")))
    assert (ended.code, ended.out, "another input" in ended.err) == (2, "", True)


def test_a_plan_with_secrets_needs_the_files_again(bench: Bench) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}, "data": {"key": "aHVudGVyMg=="}}
    path, file = str(bench.folder / "change.plan"), bench.file(secret)
    bench.run("plan", file, "-o", path)
    assert "aHVudGVyMg" not in Path(path).read_text()
    assert "give the input again" in bench.run("apply", "--plan", path).err
    assert bench.run("apply", "--plan", path, file).out == "secret/s created\n"


@pytest.mark.parametrize(("content", "message"), [("{", "not a saved plan"), ("{}", "version"), ("[1]", "version")])
def test_what_is_no_plan_is_refused(bench: Bench, content: str, message: str) -> None:
    path = bench.folder / "bad.plan"
    path.write_text(content)
    ended = bench.run("apply", "--plan", str(path))
    assert (ended.code, ended.out, message in ended.err) == (2, "", True)


def test_a_plan_that_is_not_there_is_one_line(bench: Bench) -> None:
    assert bench.run("apply", "--plan", "none.plan") == (2, "", "grove: none.plan: no such file or directory\n")
