"""Provides the readiness rules of Grove's kinds, for waits and for trees."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from applier.readiness import Readiness, ReadinessRule, readiness
from applier.ref import Manifest
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.readiness import READY_KINDS, ReadinessDecisions

ReadinessCheck = Callable[[Manifest], Readiness]
"""Returns the readiness of a live object."""


def readiness_rules(program: Program) -> tuple[ReadinessRule, ...]:
    """Returns the rule `ready_when` for Grove's kinds as rules of the applier. Raises `ApplierError` for invalid ones."""
    decide = DecisionRules(program.decisions).of(ReadinessDecisions).ready_when
    return tuple(_rule(kind, group, decide(kind)) for kind, group in READY_KINDS.items())


def _rule(kind: str, group: str, expected: list[Manifest]) -> ReadinessRule:
    # The rule of a user may return values that are not maps, which `ReadinessRule.read` reports.
    conditions = [each for each in expected if isinstance(each, dict) and "condition" in each]
    fields = [each for each in expected if each not in conditions]
    by_type = {str(each["condition"]): str(each.get("status", "True")) for each in conditions}
    return ReadinessRule.read({"group": group, "kind": kind, "fields": fields, "conditions": by_type})


def readiness_check(program: Program) -> ReadinessCheck:
    """Returns a check of Grove's kinds by the rules of a program, and of all others as the applier does."""
    return partial(readiness, rules=readiness_rules(program))
