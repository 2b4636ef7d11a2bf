"""Decides which objects are held because of others that failed or are held, and finds the root cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from applier.desired import AwaitedGroup
from applier.outcome import UNDONE, WRITTEN, Action, Outcome, Step
from applier.plan.planner import Plan
from applier.ref import Ref

Causes = dict[Ref | AwaitedGroup, Ref | None]
"""The root cause for each object that is held. For a group that was asked for: its first object that is not done, None if all are."""


def held_back(ref: Ref, plan: Plan, results: Mapping[Ref, Step | Outcome], causes: Causes) -> str:
    """Returns why an object is held: a hard dependency is not done, or a soft one does not exist; empty if it need not be held.

    `results` has the step or the outcome of each object of the waves before. This object's cause is added to `causes`.
    """
    undone = _undone(plan, ref, results, causes)
    missing = (other for other in plan.soft_dependencies.get(ref, ()) if _is_undone(other, results) and not results[other].uid)
    before = next(undone, None) or next(missing, None)
    if before is None:
        return ""
    cause = causes[ref] = causes.get(before) or before
    fate = "failed" if results[cause].action is Action.FAILED else "is held"
    through = f"{before}, which waits for {cause}" if cause != before else f"{before}"
    return f"waits for {through}, which {fate}"


def _undone(plan: Plan, ref: Ref, results: Mapping[Ref, Step | Outcome], causes: Causes) -> Iterator[Ref]:
    """Yields the hard dependencies of an object that are not done; of a group only the first, for which all its objects are asked once."""
    for before in plan.hard_dependencies.get(ref, ()):
        if isinstance(before, AwaitedGroup):
            if before not in causes:
                causes[before] = next((one for one in before.refs if _is_undone(one, results)), None)
            if (first := causes[before]) is not None:
                yield first
        elif _is_undone(before, results):
            yield before


def _is_undone(ref: Ref, results: Mapping[Ref, Step | Outcome]) -> bool:
    return ref in results and results[ref].action in UNDONE


def hold_back(plan: Plan) -> None:
    """Marks those steps of a plan as held that the executor would hold."""
    if not any(step.action in UNDONE for step in plan.steps):
        return
    steps: dict[Ref, Step] = {}
    causes: Causes = {}
    for step in plan.steps:
        if step.action in WRITTEN and (why := held_back(step.ref, plan, steps, causes)):
            step.action, step.reason, step.unsure = Action.HELD, why, False
        steps[step.ref] = step
