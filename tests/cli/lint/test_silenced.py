"""Warnings that a user has silenced, by a comment or by an entry of a list, each with its reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ...explain.sets import SET_WITH_GROUP
from ..running import run

RULES = """\
rule: team/replicas
doc: Sets have five replicas.
validate: create
assert: set.replica_count == 5
path: spec.replicas
message: should be 5
severity: warning
---
rule: team/name
doc: Sets have long names.
validate: create
assert: set.name | length > 60
path: metadata.name
message: should be longer
severity: {severity}
"""
LINE = "\n  replicas: 2\n"
SET = SET_WITH_GROUP
NAME = "team/name: we like it short"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    write()


def write(text: str = SET, severity: str = "warning") -> None:
    Path("set.yaml").write_text(text)
    Path("mine/a.yaml").write_text(RULES.replace("{severity}", severity))


def lint(*arguments: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(run("lint", "set.yaml", "--rules", "mine", "-o", "json", *arguments).out)
    return report


def codes(report: dict[str, Any]) -> list[str]:
    return [one["code"] for one in report["findings"]]


BESIDE = "\n  replicas: 2  # grove:ignore team/replicas: a test needs no more\n"
ABOVE = "\n  # grove:ignore team/replicas: a test needs no more\n  # and nobody minds\n" + LINE


@pytest.mark.parametrize("text", [BESIDE, ABOVE, BESIDE.replace("team/replicas", "team/replicas@spec.replicas")])
def test_a_comment_silences_the_warnings_of_its_line(text: str) -> None:
    write(SET.replace(LINE, text))
    report = lint("--ignore", NAME)
    assert (codes(report), report["warnings"]) == ([], 0)
    reasons = {one["code"]: one["reason"] for one in report["silenced"]}
    assert reasons == {"team/name": "we like it short", "team/replicas": "a test needs no more"}


def test_what_is_silenced_does_not_fail_strict_runs_of_any_command() -> None:
    write(SET.replace(LINE, BESIDE))
    for command in ("lint", "compile"):
        assert run(command, "set.yaml", "--rules", "mine", "--strict").code == 1
        ended = run(command, "set.yaml", "--rules", "mine", "--strict", "--ignore", NAME)
        assert (ended.code, ended.err) == (0, "")


def test_a_comment_is_about_its_line_alone() -> None:
    write("# grove:ignore team/replicas: far away\n" + SET)
    report = lint("--ignore", NAME)
    assert codes(report) == ["team/replicas", "silence/unused"]
    assert report["findings"][1]["line"] == 1


@pytest.mark.parametrize("entry", ["team/nothing: no reason to be", "team/name@metadata.labels: elsewhere"])
def test_a_silencer_that_silences_nothing_is_told(entry: str) -> None:
    assert "silence/unused" in codes(lint("--ignore", entry))


@pytest.mark.parametrize("entry", ["team/name", "team/name:", ": reason", "team name: reason"])
def test_a_silencer_needs_a_code_and_a_reason(entry: str) -> None:
    found = codes(lint("--ignore", entry))
    assert (found.count("silence/form"), "team/name" in found) == (1, True)


def test_a_comment_without_a_reason_is_told_with_its_line() -> None:
    write(SET.replace(LINE, "\n  replicas: 2  # grove:ignore team/replicas\n"))
    report = lint("--ignore", NAME)
    assert codes(report) == ["team/replicas", "silence/form"]
    assert report["findings"][1]["line"] == report["findings"][0]["line"]


def test_an_error_is_not_silenced_and_that_is_told() -> None:
    write(severity="error")
    report = lint("--ignore", NAME)
    assert (sorted(codes(report)), report["errors"]) == (["silence/error", "team/name", "team/replicas"], 1)
    assert run("compile", "set.yaml", "--rules", "mine", "--ignore", NAME).code == 1


def test_code_scanning_is_told_what_is_suppressed_and_why() -> None:
    write(SET.replace(LINE, BESIDE))
    log = json.loads(run("lint", "set.yaml", "--rules", "mine", "--ignore", NAME, "-o", "sarif").out)
    suppressed = {one["ruleId"]: one["suppressions"] for one in log["runs"][0]["results"]}
    assert suppressed == {
        "team/name": [{"kind": "external", "justification": "we like it short"}],
        "team/replicas": [{"kind": "inSource", "justification": "a test needs no more"}],
    }


def test_the_options_of_a_case_silence_as_well() -> None:
    case = Path("cases/one")
    case.mkdir(parents=True)
    (case / "input.yaml").write_text(SET)
    (case / "asserts.yaml").write_text("- count: {kind: PodCliqueSet}\n  is: 0\n")
    options = "strict: true\nrules: [../../mine]\n"
    (case / "options.yaml").write_text(options)
    assert run("test", "cases").code == 1
    (case / "options.yaml").write_text(options + f"ignore: ['{NAME}', 'team/replicas: a test']\n")
    assert run("test", "cases").code == 0
