"""Waits until deleted objects are really gone: their finalizers done, their grace periods over."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from applier.cluster import Cluster
from applier.events import Sink, Waiting, nowhere
from applier.ref import Manifest, Ref, being_deleted, is_being_deleted, uid_of
from applier.wait.follow import follow

QUIET = 3.0
"""Seconds after which it is told what is waited for. Most objects are gone by then, and nobody wants to read of them."""

FOR_FINALIZERS = "waits for finalizer"
"""How the reason begins that only whoever set a finalizer, or a person, can remove."""

OF_NAMESPACES = (
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceContentRemaining",
    "NamespaceFinalizersRemaining",
)
"""The conditions in which the controller of namespaces says what keeps one; each has a sentence as its message."""


async def wait_gone(
    manifests: Iterable[Manifest], cluster: Cluster, *, seconds: float, labels: str = "", sink: Sink = nowhere
) -> dict[Ref, str]:
    """Waits until none of these live objects is there; another object of the same name, with another UID, is not waited for.

    Gives what is still there after `seconds`, with the reason. `sink` is told of what is still there after `QUIET` seconds, and from then
    on of every change of a reason. `labels` is a selector that all of them match, so that less is watched. Raises `ClusterError` when the
    server refuses to be watched.
    """
    going = _Going({Ref.of(manifest): manifest for manifest in manifests}, sink)
    if going.waiting:
        telling = asyncio.get_running_loop().call_later(QUIET, going.tell)
        try:
            await follow(list(going.waiting.values()), cluster, going.seen, going.done, seconds=seconds, labels=labels)
        finally:
            telling.cancel()
    return {ref: going.reasons.get(ref, "not seen in time") for ref in going.waiting}


class _Going:
    """What is still waited for, and why."""

    def __init__(self, waiting: dict[Ref, Manifest], sink: Sink) -> None:
        self.waiting, self.sink = waiting, sink
        self.uids = {ref: uid_of(manifest) for ref, manifest in waiting.items()}
        self.reasons: dict[Ref, str] = {}
        self.done, self.is_quiet = asyncio.Event(), True

    def tell(self) -> None:
        """Tells of everything that is there by now, and of changes from now on."""
        self.is_quiet = False
        for ref, reason in self.reasons.items():
            self.sink(Waiting(ref, reason))

    def seen(self, ref: Ref, live: Manifest | None) -> None:
        """Takes an object as it is now."""
        if live is None or uid_of(live) != self.uids[ref]:
            self.reasons.pop(ref, None)
            self.waiting.pop(ref, None)
            if not self.waiting:
                self.done.set()
        elif ref in self.waiting and self.reasons.get(ref) != (reason := what_keeps(live)):
            self.reasons[ref] = reason
            if not self.is_quiet:
                self.sink(Waiting(ref, reason))


def what_keeps(live: Manifest) -> str:
    """Returns why an object that should go is still there."""
    metadata = live.get("metadata") or {}
    if not is_being_deleted(live):
        return "is not being deleted"
    if finalizers := metadata.get("finalizers"):
        return f"{FOR_FINALIZERS}{'' if len(finalizers) == 1 else 's'} {', '.join(finalizers)}"
    if in_the_way := [one["message"] for one in _conditions(live) if one.get("type") in OF_NAMESPACES and one.get("status") == "True"]:
        return f"waits for what is in it: {'; '.join(in_the_way)}"
    if grace := metadata.get("deletionGracePeriodSeconds"):
        return f"has {grace} seconds of grace, until {metadata['deletionTimestamp']}"
    return being_deleted(live)


def _conditions(live: Manifest) -> list[Manifest]:
    return (live.get("status") or {}).get("conditions") or []
