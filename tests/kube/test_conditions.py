"""Conditions are found by their type, whatever else a status holds or lacks."""

from __future__ import annotations

from typing import Any

import pytest

from grove_compiler.kube.conditions import condition_in, condition_of, is_true, is_true_in, status_of
from tests.suite.rows import rows

READY = {"type": "Ready", "status": "True", "reason": "PodsReady"}
STATUS = {"phase": "Running", "conditions": [{"type": "Initialized", "status": "False"}, READY]}
NOTHING: list[Any] = [None, {}, {"status": None}, {"status": {}}, {"status": {"conditions": None}}, {"status": {"conditions": []}}]


def test_a_condition_is_found_by_its_type() -> None:
    assert condition_of({"status": STATUS}, "Ready") is READY
    assert condition_in(STATUS, "Ready") is READY


def test_a_condition_that_nobody_reports_is_empty() -> None:
    assert condition_of({"status": STATUS}, "Stalled") == {}


@pytest.mark.parametrize("status, expected", [("True", True), ("False", False), ("Unknown", False), ("", False)])
def test_only_the_status_true_is_true(status: str, expected: bool) -> None:
    told = {"conditions": [{"type": "Ready", "status": status}]}
    assert is_true({"status": told}, "Ready") is expected
    assert is_true_in(told, "Ready") is expected


@rows("manifest", NOTHING)
def test_an_object_that_reports_nothing_holds_no_condition(manifest: Any) -> None:
    assert condition_of(manifest, "Ready") == {}
    assert not is_true(manifest, "Ready")


@pytest.mark.parametrize("manifest", NOTHING[:4])
def test_the_status_of_what_reports_nothing_is_empty(manifest: Any) -> None:
    assert status_of(manifest) == {}


def test_a_condition_without_a_type_is_passed_over() -> None:
    assert condition_in({"conditions": [{"status": "True"}, READY]}, "Ready") is READY
