"""Decides which objects are held because of others that failed or are held, and finds the root cause."""

from __future__ import annotations

from collections.abc import Mapping

from applier.outcome import UNDONE, WRITTEN, Action, Outcome, Step
from applier.plan.planner import Plan
from applier.ref import Ref


def held_back(ref: Ref, plan: Plan, results: Mapping[Ref, Step | Outcome], causes: dict[Ref, Ref]) -> str:
    """Returns why an object is held: a hard dependency is not done, or a soft one does not exist; empty if it need not be held.

    `results` has the step or the outcome of each object so far. `causes` has the root cause for each object that is held, and this one's
    is added.
    """
    undone = (other for other in plan.hard_dependencies.get(ref, ()) if _is_undone(other, results))
    missing = (other for other in plan.soft_dependencies.get(ref, ()) if _is_undone(other, results) and not results[other].uid)
    before = next(undone, None) or next(missing, None)
    if before is None:
        return ""
    cause = causes[ref] = causes.get(before, before)
    fate = "failed" if results[cause].action is Action.FAILED else "is held"
    through = f"{before}, which waits for {cause}" if cause != before else f"{before}"
    return f"waits for {through}, which {fate}"


def _is_undone(ref: Ref, results: Mapping[Ref, Step | Outcome]) -> bool:
    return ref in results and results[ref].action in UNDONE


def hold_back(plan: Plan) -> None:
    """Marks those steps of a plan as held that the executor would hold."""
    if not any(step.action in UNDONE for step in plan.steps):
        return
    steps: dict[Ref, Step] = {}
    causes: dict[Ref, Ref] = {}
    for step in plan.steps:
        if step.action in WRITTEN and (why := held_back(step.ref, plan, steps, causes)):
            step.action, step.reason, step.unsure = Action.HELD, why, False
        steps[step.ref] = step
