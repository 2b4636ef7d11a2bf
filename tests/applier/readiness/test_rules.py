"""Rules of readiness that a graph brings along."""

from __future__ import annotations

from typing import Any

import pytest

from applier.errors import ApplierError
from applier.readiness import ReadinessRule, State, readiness
from tests.suite.rows import rows

from .objects import live

WIDGET = {"group": "example.org", "kind": "Widget"}


def judged(rule: dict[str, Any], status: Any = None, spec: Any = None) -> tuple[State, str]:
    case: dict[str, Any] = {"kind": "Widget", "spec": spec or {}}
    if status is not None:
        case["status"] = status
    return readiness(live(case), [ReadinessRule.read({**WIDGET, **rule})])[:2]


def condition(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": status, "reason": reason, "message": message}]}


ENDS = {"fields": [["/status/up", "=", 1]], "done": [["/status/phase", "=", "Done"]]}
CASES: list[tuple[str, dict[str, Any], Any, State, str]] = [
    ("a condition is missing", {"conditions": {"Good": "True"}}, None, State.IN_PROGRESS, "condition Good is missing"),
    (
        "a condition differs",
        {"conditions": {"Good": "True"}},
        condition("Good", "False", "Why", "said"),
        State.IN_PROGRESS,
        "condition Good is False: Why: said",
    ),
    ("a condition holds", {"conditions": {"Good": "True"}}, condition("Good", "True"), State.READY, ""),
    ("a condition that is to be false", {"conditions": {"Bad": "False"}}, condition("Bad", "False"), State.READY, ""),
    ("a field is missing", {"fields": [["/status/phase", "=", "Up"]]}, None, State.IN_PROGRESS, "status.phase is missing"),
    (
        "a field differs",
        {"fields": [["/status/phase", "=", "Up"]]},
        {"phase": "Down"},
        State.IN_PROGRESS,
        "status.phase is Down, expected Up",
    ),
    ("a field holds", {"fields": [["/status/phase", "=", "Up"]]}, {"phase": "Up"}, State.READY, ""),
    ("a field is too small", {"fields": [["/status/up", ">=", 2]]}, {"up": 1}, State.IN_PROGRESS, "status.up is 1, expected >= 2"),
    (
        "a default stands for what is missing",
        {"fields": [{"field": "/status/up", "comparison": "=", "value": 0, "default": 0}]},
        None,
        State.READY,
        "",
    ),
    (
        "what cannot be compared is not as expected",
        {"fields": [["/status/up", ">=", 2]]},
        {"up": "x"},
        State.IN_PROGRESS,
        "status.up is x, expected >= 2",
    ),
    ("an item of a list", {"fields": [["/status/list/0/a~1b", "=", 1]]}, {"list": [{"a/b": 1}]}, State.READY, ""),
    ("a failed condition", {"failed": {"Dead": "True"}}, condition("Dead", "True", "Why", "said"), State.FAILED, "Dead: Why: said"),
    ("a field that ends it", ENDS, {"phase": "Done", "up": 0}, State.READY, ""),
    ("what would end it is not so", ENDS, {"phase": "Up", "up": 0}, State.IN_PROGRESS, "status.up is 0, expected 1"),
    ("what has failed", {**ENDS, "failed": {"Dead": "True"}}, {"phase": "Done", **condition("Dead", "True")}, State.FAILED, "Dead"),
    (
        "a message says more",
        {"conditions": {"Good": "True"}, "messages": ["/status/note"]},
        {"note": "wait\n for it"},
        State.IN_PROGRESS,
        "condition Good is missing; wait for it",
    ),
    ("nothing is asked", {}, None, State.READY, ""),
]


@rows(("rule", "status", "state", "reason"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_rule_judges(rule: dict[str, Any], status: Any, state: State, reason: str) -> None:
    assert judged(rule, status) == (state, reason)


def test_a_field_may_be_compared_with_another() -> None:
    rule = {"fields": [{"field": "/status/up", "comparison": ">=", "other": "/spec/replicas", "default": 0}]}
    assert judged(rule, {"up": 1}, {"replicas": 2}) == (State.IN_PROGRESS, "status.up is 1, expected >= 2, the spec.replicas")


def test_a_rule_comes_before_the_built_in_one() -> None:
    rule = ReadinessRule.read({"group": "apps", "kind": "Deployment", "fields": [["/status/phase", "=", "Up"]]})
    assert readiness(live({"kind": "Deployment", "status": {"phase": "Up"}}), [rule]).is_ready


def test_a_rule_is_not_asked_about_what_its_controller_has_not_seen() -> None:
    assert judged({}, {"observedGeneration": 1})[0] is State.IN_PROGRESS


def test_a_rule_is_not_asked_about_other_kinds() -> None:
    rule = ReadinessRule.read({**WIDGET, "conditions": {"Never": "True"}})
    assert readiness(live({"kind": "ConfigMap"}), [rule]).is_ready


@rows(
    ("data", "said"),
    [
        ({"group": "example.org"}, "needs a kind"),
        ({**WIDGET, "field": []}, "has no field field"),
        ({**WIDGET, "fields": [["/status/up", "~", 1]]}, "'~' is not a comparison"),
        ({**WIDGET, "fields": [["status.up", "=", 1]]}, "'status.up' is not a JSON pointer"),
        ({**WIDGET, "fields": [["/status/up"]]}, "is not a comparison: expected"),
        ({**WIDGET, "fields": [{"path": "/status/up"}]}, "is not a comparison: expected"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(data: dict[str, Any], said: str) -> None:
    with pytest.raises(ApplierError, match=said):
        ReadinessRule.read(data)
