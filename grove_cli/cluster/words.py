"""Formats objects, steps and outcomes as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from applier.outcome import ABSENT, Action, Conflict, FieldChange, Outcome, Owner, Step, dotted
from applier.ref import Ref

if TYPE_CHECKING:
    from applier.run.options import Report

ORDER = tuple(Action)
COLOURS = {
    Action.CREATED: "32",
    Action.CONFIGURED: "33",
    Action.RECREATED: "35",
    Action.PRUNED: "31",
    Action.YIELDED: "36",
    Action.HELD: "33",
    Action.FAILED: "31",
}
"""SGR colours of actions; unchanged has none."""

BY_HAND = "it would have to be recreated: delete it and apply again, or allow it in its rule (policy.recreate)"


def name_of(ref: Ref) -> str:
    """Returns kubectl's `kind.group/name`."""
    kind = f"{ref.kind}.{ref.group}" if ref.group else ref.kind
    return f"{kind.lower()}/{ref.name}"


def tally(counts: Mapping[Action, int]) -> str:
    """Returns `2 created, 1 configured, 997 unchanged`, or `nothing`."""
    return ", ".join(f"{counts[action]} {action}" for action in ORDER if counts.get(action)) or "nothing"


def reason_of(result: Step | Outcome) -> str:
    """Returns the reason of a step or outcome, with options of the command line instead of those of the applier's API."""
    from applier.plan.reasons import BY_FORCE, RECREATE  # not at the start: what only draws a tree plans nothing

    step = result.step if isinstance(result, Outcome) else result
    reason = result.reason or step.reason
    if BY_FORCE in reason:
        managers = dict.fromkeys(conflict.owner.manager for conflict in step.conflicts)
        reason = reason.replace(BY_FORCE, f"({' '.join(_forced(manager) for manager in managers) or '--force-conflicts'})")
    return reason.replace(RECREATE, BY_HAND)


def _forced(manager: str) -> str:
    import shlex  # only for conflicts

    return f"--force-conflicts={shlex.quote(manager)}"


def step_value(step: Step) -> dict[str, Any]:
    """Returns a step as a JSON value without empty fields."""
    value: dict[str, Any] = {**ref_value(step.ref), "action": str(step.action), "reason": reason_of(step)}
    value["changes"] = [_change_value(change) for change in step.changes]
    value["conflicts"] = [_conflict_value(conflict) for conflict in step.conflicts]
    return {key: part for key, part in value.items() if part not in ("", [])}


def outcome_value(outcome: Outcome) -> dict[str, Any]:
    """Returns an outcome as a JSON value without empty fields. `seconds` is its duration."""
    value = step_value(outcome.step)
    value |= {
        "action": str(outcome.action),
        "reason": reason_of(outcome) if outcome.reason else "",
        "uid": outcome.uid,
        "seconds": round(outcome.seconds, 4),
    }
    return {key: part for key, part in value.items() if part not in ("", [], 0.0)}


def summary_value(actions: Iterable[Action]) -> dict[str, int]:
    """Returns the number of objects by action."""
    counts: dict[str, int] = {}
    for action in actions:
        counts[str(action)] = counts.get(str(action), 0) + 1
    return {str(action): counts[str(action)] for action in ORDER if str(action) in counts}


def ref_value(ref: Ref) -> dict[str, str]:
    """Returns an object reference as a JSON value."""
    return {"group": ref.group, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def _change_value(change: FieldChange) -> dict[str, Any]:
    value: dict[str, Any] = {"path": dotted(change.path)}
    value |= {key: part for key, part in (("old", change.old), ("new", change.new)) if part is not ABSENT}
    if change.owners:
        value["owners"] = [_owner_value(owner) for owner in change.owners]
    return value


def _conflict_value(conflict: Conflict) -> dict[str, Any]:
    return {"path": dotted(conflict.path), "owner": _owner_value(conflict.owner)}


def _owner_value(owner: Owner) -> dict[str, str]:
    return {key: value for key, value in owner._asdict().items() if value}


def steps_report(steps: Sequence[Step]) -> dict[str, Any]:
    """Returns every step, and their number by action."""
    return {"objects": [step_value(step) for step in steps], "summary": summary_value(step.action for step in steps)}


def outcomes_report(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Returns the outcome of every object, and their number by action."""
    return {"objects": [outcome_value(outcome) for outcome in outcomes], "summary": summary_value(outcome.action for outcome in outcomes)}


def run_report(report: Report) -> dict[str, Any]:
    """Returns the outcomes of a run, the objects that are not ready, errors of the run, and the hash that approves held deletions."""
    value = outcomes_report(report.outcomes)
    waiting = [waited for waited in report.waited if waited.reason]
    value["notReady"] = [{**ref_value(waited.ref), "reason": waited.readiness.reason} for waited in waiting]
    value |= {"troubles": report.errors, "approval": report.approval}
    return {key: part for key, part in value.items() if part not in ("", []) or key == "objects"}
