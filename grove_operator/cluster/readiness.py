"""When objects of ours are ready: what waiting waits for, and what trees say."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from applier.readiness import Readiness, Rule, readiness
from applier.ref import Manifest
from grove_compiler.engine.runtime.program import Program
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.readiness import READY_KINDS, ready_when

Judge = Callable[[Manifest], Readiness]
"""Says how ready a live object is."""


def readiness_rules(program: Program) -> tuple[Rule, ...]:
    """Returns what the rule `ready_when` says of Grove's kinds, as the applier takes it. Raises `ApplierError` for what it cannot take."""
    decide = DecisionRules(program.decisions).of(ready_when)
    return tuple(_rule(kind, group, decide(kind)) for kind, group in READY_KINDS.items())


def _rule(kind: str, group: str, expected: list[Manifest]) -> Rule:
    # A rule of a user may give what is no map at all; the applier says so in its own words.
    conditions = [one for one in expected if isinstance(one, dict) and "condition" in one]
    fields = [one for one in expected if one not in conditions]
    by_type = {str(one["condition"]): str(one.get("status", "True")) for one in conditions}
    return Rule.read({"group": group, "kind": kind, "fields": fields, "conditions": by_type})


def judge_by(program: Program) -> Judge:
    """Returns what judges objects of our kinds by the rules of a program, and all others as the applier does."""
    return partial(readiness, rules=readiness_rules(program))
