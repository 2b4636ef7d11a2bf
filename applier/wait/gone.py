"""Waits until deleted objects are really gone: their finalizers done, their grace periods over."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from applier.cluster import Cluster
from applier.events import Sink, Waiting, nowhere
from applier.ref import Manifest, Ref, uid_of
from applier.terminating import being_deleted, is_being_deleted
from applier.wait.following import follow


async def wait_gone(
    manifests: Iterable[Manifest], cluster: Cluster, *, seconds: float, labels: str = "", sink: Sink = nowhere
) -> dict[Ref, str]:
    """Waits until none of these live objects is there; another object of the same name, with another UID, is not waited for.

    Gives what is still there after `seconds`, with the reason. `labels` is a selector that all of them match, so that less is watched.
    Raises `ClusterError` when the server refuses to be watched.
    """
    waiting = {Ref.of(manifest): manifest for manifest in manifests}
    uids = {ref: uid_of(manifest) for ref, manifest in waiting.items()}
    reasons: dict[Ref, str] = {}
    done = asyncio.Event()

    def seen(ref: Ref, live: Manifest | None) -> None:
        if live is None or uid_of(live) != uids[ref]:
            reasons.pop(ref, None)
            waiting.pop(ref, None)
            if not waiting:
                done.set()
        elif ref in waiting and reasons.get(ref) != (reason := what_keeps(live)):
            reasons[ref] = reason
            sink(Waiting(ref, reason))

    if waiting:
        await follow(list(waiting.values()), cluster, seen, done, seconds=seconds, labels=labels)
    return {ref: reasons.get(ref, "not seen in time") for ref in waiting}


def what_keeps(live: Manifest) -> str:
    """Why an object that should go is still there."""
    metadata = live.get("metadata") or {}
    if not is_being_deleted(live):
        return "is not being deleted"
    if finalizers := metadata.get("finalizers"):
        return f"waits for {'finalizer' if len(finalizers) == 1 else 'finalizers'} {', '.join(finalizers)}"
    if grace := metadata.get("deletionGracePeriodSeconds"):
        return f"has {grace} seconds of grace, until {metadata['deletionTimestamp']}"
    return being_deleted(live)
