"""Keeps an operator that has just started from taking back what the last one has reported from memory.

It does not know yet what could not be written, or for how long a set has lacked pods: `Stalled` and `WhyPending` would be gone for a while.
"""

from __future__ import annotations

from applier.desired import StatusWrite
from applier.ref import Manifest
from grove_compiler.kube.conditions import is_true_in
from grove_compiler.model.expanded.live_object import STALLED
from grove_operator.controller.pending_condition import CONDITION as PENDING

FROM_MEMORY = (STALLED, PENDING)
START = 45.0
"""Seconds from the first evaluation. A set counts as pending after thirty, and a failed write that may pass is reported after ten."""


class InheritedConditions:
    """Tells conditions that an earlier process has reported from those that this one has found itself, which it takes back at once."""

    def __init__(self) -> None:
        self._started: float | None = None
        self._found: set[tuple[str, str]] = set()  # UIDs of objects, and conditions

    def delay(self, write: StatusWrite, live: Manifest, now: float) -> float:
        """Returns for how many seconds a status is put off: one that differs in nothing but taking back inherited conditions."""
        self._started = now if self._started is None else self._started
        remaining = self._started + START - now
        if remaining <= 0:
            return 0.0
        new, old = {**write.status}, live.get("status") or {}
        self._found |= {(write.of.uid, name) for name in FROM_MEMORY if is_true_in(new, name)}
        gone = [name for name in FROM_MEMORY if is_true_in(old, name) and not is_true_in(new, name)]
        is_inherited = bool(gone) and all((write.of.uid, name) not in self._found for name in gone)
        return remaining if is_inherited and _others(new) == _others(old) else 0.0


def _others(status: Manifest) -> Manifest:
    """Returns a status with the states of its conditions alone, and without those from memory."""
    states = {one.get("type"): one.get("status") for one in status.get("conditions") or [] if one.get("type") not in FROM_MEMORY}
    return {**status, "conditions": states}
