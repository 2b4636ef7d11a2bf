"""Tells how long sets take to become ready: after they are made, after an edit, and after something broke."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from applier.ref import Manifest, Ref
from grove_compiler.kube.conditions import status_of

SET = ("grove.io", "PodCliqueSet")
CREATION, EDIT, LOSS = "creation", "edit", "loss"


class _Waiting(NamedTuple):
    """Since when a set is not ready, in seconds since the epoch, and after what."""

    since: float
    after: str


class SetReadiness:
    """Subscribes to a cache and observes seconds. What was not ready when the program started is left out: nobody knows since when.

    `observe` is given after what, and how many seconds; `clock` gives seconds since the epoch. `since` is when the program started.
    """

    def __init__(self, observe: Callable[[str, float], None], clock: Callable[[], float], since: float) -> None:
        self._observe, self._clock, self._since = observe, clock, since
        self._waiting: dict[str, _Waiting] = {}

    def __call__(self, ref: Ref, old: Manifest | None, new: Manifest | None) -> None:
        """Takes a change of any object."""
        if ref[:2] != SET:
            return
        if old is not None and (new is None or _uid(new) != _uid(old)):
            self._waiting.pop(_uid(old), None)
            old = None
        if new is not None:
            self._look_at(old, new)

    def _look_at(self, old: Manifest | None, new: Manifest) -> None:
        uid = _uid(new)
        if is_ready(new):
            if (waited := self._waiting.pop(uid, None)) is not None:
                self._observe(waited.after, max(0.0, self._clock() - waited.since))
        elif old is None:
            created = datetime.fromisoformat(new["metadata"]["creationTimestamp"]).timestamp()
            if created + 1.0 > self._since:  # of whole seconds
                self._waiting[uid] = _Waiting(created, CREATION)
        elif is_ready(old) or (uid in self._waiting and _generation(old) != _generation(new)):
            self._waiting[uid] = _Waiting(self._clock(), EDIT if _observed(new) != _generation(new) else LOSS)


def is_ready(pcs: Manifest) -> bool:
    """Whether what a set declares is what runs: all replicas are available and none is of an older declaration."""
    status, wanted = status_of(pcs), (pcs.get("spec") or {}).get("replicas", 0)
    counts = [status.get(name, 0) for name in ("replicas", "availableReplicas", "updatedReplicas")]
    return bool(_observed(pcs) == _generation(pcs)) and counts == [wanted] * 3


def _uid(pcs: Manifest) -> str:
    return str(pcs["metadata"].get("uid", ""))


def _generation(pcs: Manifest) -> Any:
    return pcs["metadata"].get("generation")


def _observed(pcs: Manifest) -> Any:
    return status_of(pcs).get("observedGeneration")
