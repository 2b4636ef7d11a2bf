"""Differences shown by a program of the user's."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from grove_cli.cluster.diff.external import external_program

from .in_memory import Bench, config_map

PROGRAM = """#!{python}
import json, pathlib, sys
folders = [{{file.name: file.read_text() for file in pathlib.Path(name).iterdir()}} for name in sys.argv[-2:]]
said = {{"arguments": sys.argv[1:-2], "folders": folders, "names": [pathlib.Path(name).name.split("-")[0] for name in sys.argv[-2:]]}}
pathlib.Path({told!r}).write_text(json.dumps({{**said, "paths": sys.argv[-2:]}}))
sys.exit({code})
"""


class Program:
    """A program that writes down what it was given."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch

    def use(self, arguments: str = "", code: int = 1) -> None:
        path = self.folder / "program"
        path.write_text(PROGRAM.format(python=sys.executable, told=str(self.folder / "told.json"), code=code))
        path.chmod(0o755)
        self.monkeypatch.setenv("KUBECTL_EXTERNAL_DIFF", f"{path} {arguments}".strip())

    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "told.json").read_text())
        return found


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    return Program(tmp_path, monkeypatch)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    found = Bench(tmp_path)
    found.run("apply", found.file(config_map("a", x="1")))
    return found


def test_it_is_given_a_file_for_each_object_that_differs(bench: Bench, program: Program) -> None:
    program.use()
    assert bench.run("diff", bench.file(config_map("a", x="2"), config_map("b", z="1"))) == (1, "", "")
    live, merged = program.told()["folders"]
    assert set(live) == set(merged) == {"v1.ConfigMap.shop.a", "v1.ConfigMap.shop.b"}
    assert ("x: '1'" in live["v1.ConfigMap.shop.a"].replace('"', "'"), live["v1.ConfigMap.shop.b"]) == (True, "")
    assert "x: '2'" in merged["v1.ConfigMap.shop.a"].replace('"', "'")


def test_the_folders_are_called_as_kubectl_calls_them_and_gone_afterwards(bench: Bench, program: Program) -> None:
    program.use()
    bench.run("diff", bench.file(config_map("a", x="2")))
    told = program.told()
    assert (told["names"], [Path(path).exists() for path in told["paths"]]) == (["LIVE", "MERGED"], [False, False])


@pytest.mark.parametrize(("code", "ended"), [(0, 0), (1, 1), (2, 2), (7, 2)])
def test_its_exit_code_counts(bench: Bench, program: Program, code: int, ended: int) -> None:
    program.use(code=code)
    found = bench.run("diff", bench.file(config_map("a", x="2")))
    assert (found.code, "ended with exit code" in found.err) == (ended, code > 1)


def test_what_could_not_be_compared_is_an_error_whatever_it_says(bench: Bench, program: Program) -> None:
    program.use(code=0)
    bench.cluster.seed(config_map("c", x="theirs"), manager="helm")
    ended = bench.run("diff", bench.file(config_map("c", x="ours")))
    assert (ended.code, ended.err.startswith("grove: ConfigMap/shop/c: held: helm")) == (2, True)


def test_values_of_secrets_are_never_given_to_it(bench: Bench, program: Program) -> None:
    program.use()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}, "data": {"key": "aHVudGVyMg=="}}
    bench.run("diff", bench.file(secret))
    assert "aHVudGVyMg" not in json.dumps(program.told())


def test_a_program_that_is_not_there_is_one_line(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECTL_EXTERNAL_DIFF", "/no/such/program -u")
    ended = bench.run("diff", bench.file(config_map("a", x="2")))
    assert ended == (2, "", "grove: /no/such/program: no such file or directory\n")


def test_programs_get_json_all_the_same(bench: Bench, program: Program) -> None:
    program.use(code=7)
    ended = bench.run("diff", "-o", "json", bench.file(config_map("a", x="2")))
    assert (ended.code, json.loads(ended.out)["summary"]) == (1, {"configured": 1})


@pytest.mark.parametrize(
    ("value", "program"),
    [("", []), ("meld", ["meld"]), ("diff -u -N --width=9", ["diff", "-u", "-N", "--width=9"]), ("diff -u ;rm $x", ["diff", "-u"])],
)
def test_arguments_are_taken_as_kubectl_takes_them(monkeypatch: pytest.MonkeyPatch, value: str, program: list[str]) -> None:
    monkeypatch.setenv("KUBECTL_EXTERNAL_DIFF", value)
    assert external_program() == program
