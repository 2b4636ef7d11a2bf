"""`grove test`: reports for programs, and what people see of long texts and long runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ..running import ROOT, run
from .cases import LABEL, ONE, Put, service, three


def test_json_holds_every_case_and_every_difference(put: Put) -> None:
    three(put)
    ended = run("test", "cases", "-o", "json")
    report: dict[str, Any] = json.loads(ended.out)
    assert (ended.code, report["counts"]) == (1, {"passed": 1, "failed": 2})
    first, second, _ = report["cases"]
    assert first["differences"] == [
        {
            "subject": "Service/default/demo-0",
            "path": "metadata.labels.team",
            "change": "missing",
            "expected": '<north> & "co"\x7f',
            "file": "cases/fails/expected.yaml",
            "line": 12,
        }
    ]
    assert second == {"name": "cases/passes", "status": "passed"}


def test_junit_is_xml_with_a_failure_for_each_case_that_failed(put: Put) -> None:
    three(put)
    ended = run("test", "cases", "-o", "junit")
    root = ElementTree.fromstring(ended.out)
    cases = {case.attrib["name"]: case for case in root.iter("testcase")}
    assert (ended.code, root.attrib["tests"], root.attrib["failures"], root.attrib["errors"]) == (1, "3", "2", "0")
    assert {case.attrib["classname"] for case in cases.values()} == {"cases"}
    assert [name for name, case in cases.items() if case.find("failure") is not None] == ["fails", "unexpected"]
    failure = cases["fails"].find("failure")
    assert failure is not None
    assert '<north> & \\"co\\"' in (failure.text or "")


def test_a_long_text_is_shown_around_the_first_character_that_differs(put: Put) -> None:
    put(
        "one",
        {
            **ONE,
            "expected.yaml": service(team="x" * 200 + "A" + "y" * 200),
            "rules/l.yaml": LABEL.replace("north", "x" * 200 + "B" + "y" * 200),
        },
    )
    line = next(line for line in run("test", "cases").out.splitlines() if "metadata.labels.team" in line)
    assert "xA" in line
    assert "xB" in line
    assert len(line) < 300


def test_a_terminal_is_told_how_far_a_long_run_has_come(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    from grove_cli import test as command

    put("one", {**ONE, "expected.yaml": service(team="x")})
    put("two", ONE)
    monkeypatch.setattr(command, "INTERVAL", 0.0)
    assert run("test", "cases").err == "0 of 2 cases\n1 of 2 cases, 1 failed\n"


def test_the_cases_of_the_examples_pass() -> None:
    ended = run("test", str(ROOT / "examples"))
    assert ended.code == 0, ended.out + ended.err


def test_no_case_is_changed_by_running_it(put: Put, tmp_path: Path) -> None:
    three(put)
    shutil.copytree(tmp_path / "cases", tmp_path / "before")
    run("test", "cases")
    files = sorted(path.relative_to(tmp_path / "cases") for path in (tmp_path / "cases").rglob("*.yaml"))
    assert [file for file in files if (tmp_path / "cases" / file).read_bytes() != (tmp_path / "before" / file).read_bytes()] == []
