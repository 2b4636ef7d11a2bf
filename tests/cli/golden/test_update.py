"""`grove test --update`: what comes out becomes what is expected."""

from __future__ import annotations

import yaml

from ..running import Ended, run
from .cases import ONE, WARNS, WRONG, Put, service


def test_update_writes_what_is_expected_and_then_the_case_passes(put: Put) -> None:
    folder = put("one")
    assert run("test", "cases", "--update") == Ended(0, "updated cases/one: expected.yaml\n1 case: 1 updated\n", "")
    assert (folder / "expected.yaml").read_text() == run("compile", str(folder / "input.yaml")).out
    assert not (folder / "expected-findings.yaml").exists()
    assert run("test", "cases").code == 0


def test_update_writes_findings_where_nothing_can_come_out(put: Put) -> None:
    folder = put("one", {"input.yaml": WRONG})
    assert run("test", "cases", "--update").out == "updated cases/one: expected-findings.yaml\n1 case: 1 updated\n"
    assert not (folder / "expected.yaml").exists()
    assert run("test", "cases").code == 0


def test_update_writes_both_where_there_are_warnings(put: Put) -> None:
    put("one", {"input.yaml": WARNS})
    assert "expected.yaml, expected-findings.yaml" in run("test", "cases", "--update").out
    assert run("test", "cases").code == 0


def test_update_keeps_comments_at_the_head(put: Put) -> None:
    folder = put("one", {**ONE, "expected.yaml": "# why\n# and how\n" + service(team="x")})
    run("test", "cases", "--update")
    assert (folder / "expected.yaml").read_text().startswith("# why\n# and how\napiVersion: v1\n")
    assert run("test", "cases").code == 0


def test_update_leaves_alone_what_holds(put: Put) -> None:
    folder = put(
        "one", {**ONE, "input.yaml": WARNS, "expected-findings.yaml": "- {code: validate/overwritten-pod-fields, says: hostname}\n"}
    )
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert run("test", "cases", "--update") == Ended(0, "1 case: 1 passed\n", "")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_update_does_not_make_an_error_an_expectation(put: Put) -> None:
    folder = put("one", {**ONE, "input.yaml": WRONG})
    ended = run("test", "cases", "--update")
    assert ended.code == 1
    assert "finding validate/set-replicas at spec.replicas  not expected" in ended.out
    assert (folder / "expected.yaml").read_text() == service()


def test_update_writes_only_the_kinds_that_are_compared(put: Put) -> None:
    folder = put("one", {"options.yaml": "kinds: [Service]\n"})
    run("test", "cases", "--update")
    assert [document["kind"] for document in yaml.load_all((folder / "expected.yaml").read_text(), yaml.CSafeLoader)] == ["Service"]
