"""Decides which objects have to wait for something that is not done, and for which first cause."""

from __future__ import annotations

from collections.abc import Mapping

from applier.outcome import UNDONE, WRITTEN, Action, Outcome, Step
from applier.plan.planner import Plan
from applier.ref import Ref


def held_back(ref: Ref, plan: Plan, fates: Mapping[Ref, Step | Outcome], causes: dict[Ref, Ref]) -> str:
    """Returns why an object has to wait: what it needs failed, or what comes before it does not exist; empty when it need not wait.

    `fates` is what is known of each object so far: its step, or its outcome. `causes` holds the first cause of everything that waits,
    and gets that of this object.
    """
    undone = (one for one in plan.hard_dependencies.get(ref, ()) if _is_undone(one, fates))
    missing = (one for one in plan.soft_dependencies.get(ref, ()) if _is_undone(one, fates) and not fates[one].uid)
    before = next(undone, None) or next(missing, None)
    if before is None:
        return ""
    cause = causes[ref] = causes.get(before, before)
    fate = "failed" if fates[cause].action is Action.FAILED else "is held"
    through = f"{before}, and that for {cause}" if cause != before else f"{before}"
    return f"waits for {through}, which {fate}"


def _is_undone(ref: Ref, fates: Mapping[Ref, Step | Outcome]) -> bool:
    return ref in fates and fates[ref].action in UNDONE


def hold_back(plan: Plan) -> None:
    """Marks the steps of a plan as held that would have to wait, as the executor does."""
    if not any(step.action in UNDONE for step in plan.steps):
        return
    fates: dict[Ref, Step] = {}
    causes: dict[Ref, Ref] = {}
    for step in plan.steps:
        if step.action in WRITTEN and (why := held_back(step.ref, plan, fates, causes)):
            step.action, step.reason, step.unsure = Action.HELD, why, False
        fates[step.ref] = step
