"""Reads an object's status, and the conditions in it, which are a list with one entry for each type."""

from __future__ import annotations

from kube_objects.manifest import Manifest

STALLED = "Stalled"
"""The condition of an object that is held or rejected, by the name that kstatus knows."""
HELD = "Held"
"""Its reason where nothing is changed, because of the input or the rules."""
UPDATE_IN_PROGRESS = "UpdateInProgress"
"""The condition that says whether an update goes on, of what has a `progressDeadline`."""
PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
"""The reason of `UpdateInProgress` for an update that makes no progress."""


def status_of(manifest: Manifest | None) -> Manifest:
    """Returns an object's status; empty without one, or without an object."""
    return (manifest or {}).get("status") or {}


def condition_of(manifest: Manifest | None, condition_type: str) -> Manifest:
    """Returns a condition of an object; empty without one of that type."""
    return condition_in(status_of(manifest), condition_type)


def condition_in(status: Manifest, condition_type: str) -> Manifest:
    """Returns a condition of a status, or of a part of one that has conditions of its own; empty without one of that type."""
    conditions: list[Manifest] = status.get("conditions") or []
    return next((condition for condition in conditions if condition.get("type") == condition_type), {})


def is_held(manifest: Manifest | None) -> bool:
    """Reports whether of an object's present spec nothing takes effect, because of the input or the rules."""
    condition = condition_of(manifest, STALLED)
    return condition.get("status") == "True" and condition.get("reason") == HELD


def is_true(manifest: Manifest | None, condition_type: str) -> bool:
    """Reports whether a condition of an object is `True`; not when it is absent or `Unknown`."""
    return is_true_in(status_of(manifest), condition_type)


def is_true_in(status: Manifest, condition_type: str) -> bool:
    """Reports whether a condition of a status is `True`."""
    return condition_in(status, condition_type).get("status") == "True"
