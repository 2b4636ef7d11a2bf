"""What the tests of the cache write, and how they wait: in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from applier.cache import Query, WatchCache
from applier.cluster import Cluster
from applier.ref import Kind, Manifest, Ref
from applier.testing.memory import MemoryCluster

CONFIG_MAP, POD, SECRET, NODE = Kind("", "v1", "ConfigMap"), Kind("", "v1", "Pod"), Kind("", "v1", "Secret"), Kind("", "v1", "Node")


def config_map(name: str = "a", value: str = "1", **metadata: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default", **metadata}, "data": {"k": value}}


def ref(name: str = "a", namespace: str = "default") -> Ref:
    return Ref("", "ConfigMap", namespace, name)


async def delete(cluster: MemoryCluster, name: str = "a") -> None:
    found = cluster.find(ref(name))
    assert found is not None
    await cluster.delete(cluster.kinds.get(CONFIG_MAP), "default", name, uid=found["metadata"]["uid"])


async def until(holds: Callable[[], Any], seconds: float = 3600.0) -> None:
    """Waits, in virtual time, until something holds."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.1)


@asynccontextmanager
async def watching(cluster: Cluster, *kinds: Kind, queries: Iterable[Query] = (), **options: Any) -> AsyncIterator[WatchCache]:
    """A cache of some kinds in all namespaces, or of `queries`, that is up to date."""
    cache = WatchCache(cluster, queries or [(kind, "") for kind in kinds or (CONFIG_MAP,)], chance=Random(1), **options)
    await cache.start()
    try:
        await cache.synced()
        yield cache
    finally:
        await cache.stop()


def names(cache: WatchCache) -> list[str]:
    return [manifest["metadata"]["name"] for manifest in cache.by_label("", "ConfigMap")]
