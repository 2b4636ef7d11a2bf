"""Converts events to JSON, without the values of fields."""

from __future__ import annotations

from typing import Any

from applier.events import Adapted, Event, Finished, Planned, Ready, Retried, RunEnded, Started, Throttled, Waiting, WaveStarted
from applier.outcome import FieldChange, Outcome, Step, dotted


def line(event: Event) -> dict[str, Any]:
    """Returns an event as JSON. Fields have only their path and managers, since the value of any field may be secret."""
    match event:
        case Planned(counts, waves):
            return {"event": "planned", "counts": {str(action): count for action, count in counts.items()}, "waves": waves}
        case WaveStarted(number, objects):
            return {"event": "wave", "wave": number, "objects": objects}
        case Started(step):
            return {"event": "started", **_step(step)}
        case Finished(outcome):
            return {"event": "finished", **_outcome(outcome)}
        case Waiting(ref, reason):
            return {"event": "waiting", "object": str(ref), "reason": reason}
        case Ready(ref, seconds):
            return {"event": "ready", "object": str(ref), "seconds": _rounded(seconds)}
        case Throttled(seconds, in_flight):
            return {"event": "throttled", "seconds": _rounded(seconds), "in_flight": in_flight}
        case Adapted(in_flight, per_second):
            return {"event": "adapted", "in_flight": in_flight, "per_second": round(per_second, 1)}
        case Retried(ref, attempt, why):
            return {"event": "retried", **({"object": str(ref)} if ref else {}), "attempt": attempt, "reason": why}
        case RunEnded(counts, seconds, requests):
            by_action = {str(action): count for action, count in counts.items()}
            return {"event": "ended", "counts": by_action, "seconds": _rounded(seconds), "requests": requests}


def _step(step: Step) -> dict[str, Any]:
    fields = {"object": str(step.ref), "action": str(step.action), "reason": step.reason, "uid": step.uid, "wave": step.wave}
    return {key: value for key, value in fields.items() if value != ""}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    fields = {**_step(outcome.step), "action": str(outcome.action), "seconds": _rounded(outcome.seconds)}
    fields["reason"] = outcome.reason or outcome.step.reason
    fields["uid"] = outcome.uid or outcome.step.uid
    if outcome.action != outcome.step.action:
        fields["meant"] = str(outcome.step.action)
    if outcome.error is not None:
        fields["error"] = type(outcome.error).__name__
    if outcome.step.changes:
        fields["fields"] = [_change(change) for change in outcome.step.changes]
    return {key: value for key, value in fields.items() if value != ""}


def _change(change: FieldChange) -> dict[str, Any]:
    owners = [{"manager": owner.manager, "operation": owner.operation, "time": owner.time} for owner in change.owners]
    return {"path": dotted(change.path), **({"owners": owners} if owners else {})}


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
