"""Waits until deleted objects are gone: their finalizers removed, their grace periods over."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

from applier.cluster import Cluster
from applier.events import Sink, Waiting, nowhere
from applier.outcome import Obstacle
from applier.ref import Manifest, Ref, being_deleted, uid_of
from applier.wait.follow import follow
from kube_objects.manifest import is_terminating

QUIET = 3.0
"""Seconds until remaining objects are reported. Most objects are gone by then, and need no report."""

OF_NAMESPACES = (
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceContentRemaining",
    "NamespaceFinalizersRemaining",
)
"""The conditions in which the namespace controller reports why a namespace remains; each has a sentence as its message."""


class Remaining(NamedTuple):
    """Tells why an object that should be gone still exists. `obstacle` is `FINALIZERS` where only controllers, or a person, remove it."""

    reason: str
    obstacle: Obstacle = Obstacle.NONE


async def wait_gone(
    manifests: Iterable[Manifest], cluster: Cluster, *, seconds: float, labels: str = "", sink: Sink = nowhere
) -> dict[Ref, Remaining]:
    """Waits until none of these live objects exists; an object of the same name with another UID does not count.

    Returns those that remain after `seconds`, with the reason. `sink` receives what remains after `QUIET` seconds, and from then on every
    change of a reason. `labels` is a selector that all of them match, to watch less. Raises `ClusterError` when the server denies the
    watch.
    """
    going = _Going({Ref.of(manifest): manifest for manifest in manifests}, sink)
    if going.waiting:
        telling = asyncio.get_running_loop().call_later(QUIET, going.tell)
        try:
            await follow(list(going.waiting.values()), cluster, going.seen, going.done, seconds=seconds, labels=labels)
        finally:
            telling.cancel()
    return {ref: going.reasons.get(ref, Remaining("not observed in time")) for ref in going.waiting}


class _Going:
    """Tracks which objects remain, and why."""

    def __init__(self, waiting: dict[Ref, Manifest], sink: Sink) -> None:
        self.waiting, self.sink = waiting, sink
        self.uids = {ref: uid_of(manifest) for ref, manifest in waiting.items()}
        self.reasons: dict[Ref, Remaining] = {}
        self.done, self.is_quiet = asyncio.Event(), True

    def tell(self) -> None:
        """Reports all remaining objects, and every change from now on."""
        self.is_quiet = False
        for ref, remaining in self.reasons.items():
            self.sink(Waiting(ref, remaining.reason))

    def seen(self, ref: Ref, live: Manifest | None) -> None:
        """Receives the current state of an object."""
        if live is None or uid_of(live) != self.uids[ref]:
            self.reasons.pop(ref, None)
            self.waiting.pop(ref, None)
            if not self.waiting:
                self.done.set()
        elif ref in self.waiting and self.reasons.get(ref) != (remaining := what_keeps(live)):
            self.reasons[ref] = remaining
            if not self.is_quiet:
                self.sink(Waiting(ref, remaining.reason))


def what_keeps(live: Manifest) -> Remaining:
    """Returns why an object that should be gone still exists."""
    metadata = live.get("metadata") or {}
    if not is_terminating(live):
        return Remaining("is not being deleted")
    if finalizers := metadata.get("finalizers"):
        return Remaining(f"waits for finalizer{'' if len(finalizers) == 1 else 's'} {', '.join(finalizers)}", Obstacle.FINALIZERS)
    if in_the_way := [
        condition["message"]
        for condition in _conditions(live)
        if condition.get("type") in OF_NAMESPACES and condition.get("status") == "True"
    ]:
        return Remaining(f"waits for its contents: {'; '.join(in_the_way)}")
    if grace := metadata.get("deletionGracePeriodSeconds"):
        return Remaining(f"has {grace} seconds of grace period, until {metadata['deletionTimestamp']}")
    return Remaining(being_deleted(live))


def _conditions(live: Manifest) -> list[Manifest]:
    return (live.get("status") or {}).get("conditions") or []
