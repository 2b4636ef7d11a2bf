"""Edits of a set, and what each does: one file a case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grove_compiler.graph.field_path import render
from grove_compiler.impact.account import account
from grove_operator.impact_words import consequence
from tests.suite.rows import rows

from .editing import CASES, amounts, base, counts, effect, read_case, restarts

KEYS = {
    "doc",
    "old",
    "edits",
    "made",
    "changed",
    "replaced",
    "deleted",
    "left",
    "shipped",
    "pods",
    "gpus",
    "restarts",
    "touches",
    "forbidden",
    "causes",
}
WORDS = ("made", "changed", "replaced", "deleted", "left")

every_case = rows("path", CASES, ids=lambda path: path.stem)
those_with = {
    key: pytest.mark.parametrize("path", [path for path in CASES if key in read_case(path)], ids=lambda path: path.stem)
    for key in ("restarts", "shipped", "forbidden", "causes")
}


def of(path: Path) -> tuple[dict[str, Any], Any]:
    case = read_case(path)
    return case, effect(base(*case.get("old", [])), base(*case["edits"]))


@every_case
def test_a_case_says_nothing_that_no_test_reads(path: Path) -> None:
    assert read_case(path).keys() <= KEYS


@every_case
def test_objects_become_what_the_case_says(path: Path) -> None:
    case, found = of(path)
    if "causes" not in case or any(word in case for word in WORDS):
        assert counts(found) == {word: case[word] for word in WORDS if word in case}


@those_with["shipped"]
def test_the_shipped_operator_recreates_pod_cliques_and_restarts_the_same_pods(path: Path) -> None:
    case = read_case(path)
    found = effect(base(*case.get("old", [])), base(*case["edits"]), operator="shipped")
    assert counts(found) == case["shipped"]
    assert amounts(found, "pods") == case["pods"]
    assert "restarts" not in case or restarts(found) == case["restarts"]


@every_case
def test_pods_and_gpus_come_and_go_as_the_case_says(path: Path) -> None:
    case, found = of(path)
    if found.sets:
        assert [amounts(found, what) for what in ("pods", "gpus")] == [case.get("pods", {}), case.get("gpus", {})]


@every_case
def test_an_edit_touches_what_exists_unless_the_case_says_otherwise(path: Path) -> None:
    case, found = of(path)
    assert found.touches is (case.get("touches", True) and "forbidden" not in case)


@those_with["restarts"]
def test_restarts_happen_in_the_order_of_the_case(path: Path) -> None:
    case, found = of(path)
    assert restarts(found) == case["restarts"]


@every_case
def test_an_edit_is_allowed_unless_the_case_says_otherwise(path: Path) -> None:
    case, found = of(path)
    assert [one.code for one in found.forbidden] == case.get("forbidden", [])
    assert found.is_known is ("forbidden" not in case)


@those_with["causes"]
def test_each_edit_does_what_the_case_says(path: Path) -> None:
    case, found = of(path)
    said = [
        [render(cause.edit.change.path), cause.reason if cause.alone is None else consequence(account(cause.alone))]
        for cause in found.causes
    ]
    assert sorted(said) == sorted(case["causes"])
