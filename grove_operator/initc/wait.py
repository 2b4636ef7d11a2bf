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
from grove_compiler.gangs.clique import GANG_LABEL
from grove_operator.initc.parents import Parents

POD = Kind("", "v1", "Pod")
FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0
"""Seconds until a refused request is retried. A restart of the init container may take up to 300 (CrashLoopBackOff)."""


async def wait_for(parents: Parents, cluster: Cluster, namespace: str, gang: str, say: Callable[[str], None]) -> None:
    """Returns once enough pods of every parent are ready. `gang` is the PodGang of the waiting pod and its parents.

    `say` is told what is waited for whenever that changes, and what keeps us from knowing. A refusal is no end: the role of the service
    account may be younger than the pod (the pod is gated until its gang is complete, but nobody waits for the authorizer's cache).
    """
    backoff, told = Backoff(FIRST_WAIT, LONGEST_WAIT), ""
    while True:
        try:
            pods = await cluster.resource(POD)
            async with aclosing(list_and_watch(cluster, pods, namespace, labels=f"{GANG_LABEL}={gang}")) as news:
                async for each in news:
                    backoff.reset()
                    _take(parents, each)
                    if not parents.waiting():
                        return
                    if parents.describe() != told:
                        told = parents.describe()
                        say(f"waiting for {told}")
        except ClusterError as error:
            say(f"cannot see the pods of {namespace}/{gang}, and tries again: {error}")
        await asyncio.sleep(backoff.next())


def _take(parents: Parents, news: Listing | WatchEvent) -> None:
    if isinstance(news, Listing):
        parents.list_anew(news.items)
    elif news.type != "BOOKMARK":
        parents.see(news.object, gone=news.type == "DELETED")
