"""An error that a set has run with is recognised by its rule and its place, whichever path the version that recorded it reported."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grove_compiler.accepted_findings import accept_recorded
from grove_compiler.graph.diagnostic import Diagnostic

LIST, FIRST, SECOND = "spec.template.cliques.spec", "spec.template.cliques[0].spec", "spec.template.cliques[1].spec"


def at(place: str, path: str = LIST) -> Diagnostic:
    """An error that is reported at a list, and is at one of its items."""
    return Diagnostic("my/rule", "error", "is wrong", path, at=place)


def severities(recorded: str, *findings: Diagnostic, has_run: bool = False) -> list[str]:
    """What becomes of errors of a set whose newest revision has recorded one at this path."""
    revision = SimpleNamespace(accepted_findings=frozenset({("my/rule", recorded)}))
    pcs: Any = SimpleNamespace(revisions=[revision], ran_elsewhere=False, has_run=has_run, accepted_findings=[])
    program: Any = SimpleNamespace(hold_updates=(), about_updates=(), about_creations=("new/rule",), hold_always=("others/rule",))
    return [finding.severity for finding in accept_recorded(list(findings), pcs, program)]


@pytest.mark.parametrize("finding", [at(FIRST), Diagnostic("my/rule", "error", "is wrong", FIRST)], ids=["at a list", "at itself"])
def test_an_error_at_the_recorded_place_is_a_warning_whatever_path_it_reports(finding: Diagnostic) -> None:
    assert severities(FIRST, finding) == ["warning"]


def test_what_an_earlier_version_recorded_at_a_list_holds_for_its_items() -> None:
    assert severities(LIST, at(FIRST), at(SECOND)) == ["warning", "warning"]


def test_an_error_of_the_same_rule_at_another_place_is_new() -> None:
    assert severities(FIRST, at(FIRST), at(SECOND)) == ["warning", "error"]


def test_an_error_of_another_rule_at_that_place_is_new() -> None:
    assert severities(FIRST, Diagnostic("other/rule", "error", "is wrong", LIST, at=FIRST)) == ["error"]


def test_a_rule_about_new_sets_has_nothing_to_say_about_one_that_has_run() -> None:
    assert severities(FIRST, Diagnostic("new/rule", "error", "is wrong", SECOND)) == []


def test_what_a_release_finds_in_a_set_that_has_run_as_it_is_was_there_before() -> None:
    assert severities(LIST, Diagnostic("stricter/rule", "error", "is wrong", SECOND), has_run=True) == ["warning"]


@pytest.mark.parametrize(("rule", "path"), [("others/rule", SECOND), ("any/rule", "metadata.annotations[a]")])
def test_what_may_have_come_later_was_not(rule: str, path: str) -> None:
    assert severities(LIST, Diagnostic(rule, "error", "is wrong", path), has_run=True) == ["error"]
