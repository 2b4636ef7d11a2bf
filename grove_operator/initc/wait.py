"""Waits until the parent cliques of a pod are ready, across failures of the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

from applier.backoff import Backoff
from applier.cluster import Cluster, Listing, WatchEvent
from applier.errors import ClusterError
from applier.ref import Kind
from applier.reflector import list_and_watch
from grove_compiler.labels import GANG_LABEL
from grove_operator.initc.parents import Parents

POD = Kind("", "v1", "Pod")
FIRST_WAIT, MAX_WAIT = 0.5, 10.0
"""Seconds until a refused request is retried. A restart of the init container may take up to 300 (CrashLoopBackOff)."""


async def wait_for(parents: Parents, cluster: Cluster, namespace: str, gang: str, log: Callable[[str], None]) -> None:
    """Returns once enough pods of every parent are ready. `gang` is the PodGang of the waiting pod and its parents.

    `log` is called with the missing pods whenever they change, and with errors. Errors are retried, `Forbidden` too: the API server's
    authorizer may not know the role of the service account yet when the pod starts.
    """
    backoff, logged = Backoff(FIRST_WAIT, MAX_WAIT), ""
    while True:
        try:
            pods = await cluster.resource(POD)
            async with aclosing(list_and_watch(cluster, pods, namespace, labels=f"{GANG_LABEL}={gang}")) as events:
                async for event in events:
                    backoff.reset()
                    _apply(parents, event)
                    if not parents.waiting():
                        return
                    if parents.describe() != logged:
                        logged = parents.describe()
                        log(f"waiting for {logged}")
        except ClusterError as error:
            log(f"cannot read the pods of {namespace}/{gang}; retrying: {error}")
        await asyncio.sleep(backoff.next())


def _apply(parents: Parents, event: Listing | WatchEvent) -> None:
    if isinstance(event, Listing):
        parents.replace_all(event.items)
    elif event.type != "BOOKMARK":
        parents.update(event.object, gone=event.type == "DELETED")
