"""`grove test`: findings that a case expects, and those that it does not."""

from __future__ import annotations

from ..running import Ended, run
from .cases import ONE, SET, WARNS, WRONG, Put

NEGATIVE = "- {code: validate/set-replicas, path: spec.replicas, type: Invalid value, line: 5}\n"


def test_findings_are_compared(put: Put) -> None:
    put("one", {"input.yaml": WRONG, "expected-findings.yaml": NEGATIVE})
    assert run("test", "cases") == Ended(0, "1 case: 1 passed\n", "")


def test_a_finding_in_other_words_is_told(put: Put) -> None:
    put("one", {"input.yaml": WRONG, "expected-findings.yaml": "- code: validate/set-replicas\n  says: must be even\n"})
    ended = run("test", "cases")
    assert ended.code == 1
    assert "    finding validate/set-replicas at spec.replicas\n" in ended.out
    assert 'says: expected "must be even", found "must not be negative' in ended.out
    assert "cases/one/expected-findings.yaml:2" in ended.out


def test_a_finding_that_is_gone_is_told(put: Put) -> None:
    put("one", {"expected-findings.yaml": NEGATIVE})
    assert "finding validate/set-replicas at spec.replicas  missing  cases/one/expected-findings.yaml:1" in run("test", "cases").out


def test_an_error_that_is_not_expected_fails_a_case_of_objects(put: Put) -> None:
    put("one", {**ONE, "input.yaml": WRONG})
    ended = run("test", "cases")
    assert ended.code == 1
    assert "finding validate/set-replicas at spec.replicas  not expected: must not be negative" in ended.out


def test_a_warning_that_is_not_expected_fails_only_a_strict_case(put: Put) -> None:
    put("lax", {**ONE, "input.yaml": WARNS})
    put("strict", {**ONE, "input.yaml": WARNS, "options.yaml": "kinds: [Service]\nstrict: true\n"})
    ended = run("test", "cases", "-v")
    assert ended.out.startswith("ok      cases/lax\nFAILED  cases/strict\n    finding validate/overwritten-pod-fields")


def test_an_update_is_judged_against_the_old_set(put: Put) -> None:
    old = SET.replace("roleName: web", "roleName: other")
    put("one", {"old.yaml": old, "expected-findings.yaml": "- code: validate/update-clique-role\n"})
    assert run("test", "cases").code == 0


def test_input_that_is_no_yaml_is_a_finding_as_well(put: Put) -> None:
    put("one", {"input.yaml": "a: [", "expected-findings.yaml": "- {code: yaml/syntax, line: 1}\n"})
    assert run("test", "cases") == Ended(0, "1 case: 1 passed\n", "")
