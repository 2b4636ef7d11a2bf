"""The cache on a real API server: does that do what the cluster in memory makes the other tests believe?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest
import pytest_asyncio

from applier.cache import Query, WatchCache, read_once
from applier.cluster import Cluster, Resource
from applier.errors import Forbidden
from applier.ref import Kind, Manifest, Ref
from applier.testing.control_plane import ControlPlane
from applier.testing.faults import Script
from applier.testing.proxy import Faults
from applier.transport import ApiCluster, connect
from tests.connecting import connect_to

pytestmark = pytest.mark.cluster

CONFIG_MAP, SECRET = Kind("", "v1", "ConfigMap"), Kind("", "v1", "Secret")
ROOT = "kube-root-ca.crt"  # the control plane puts it into every namespace, at some time


@pytest_asyncio.fixture
async def maps(cluster: ApiCluster) -> Resource:
    return await cluster.resource(CONFIG_MAP)


def config_map(namespace: str, name: str, value: str = "1") -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": value}}


async def write(cluster: Cluster, maps: Resource, namespace: str, name: str, value: str = "1") -> Manifest:
    return await cluster.apply(maps, config_map(namespace, name, value), manager="tests")


@asynccontextmanager
async def watching(cluster: Cluster, namespace: str, kind: Kind = CONFIG_MAP, **options: Any) -> AsyncIterator[WatchCache]:
    cache = WatchCache(cluster, [(kind, namespace)], chance=Random(1), **options)
    await cache.start()
    try:
        await cache.synced()
        yield cache
    finally:
        await cache.stop()


async def until(cache: WatchCache, holds: Callable[[], Any]) -> None:
    """Waits for changes until something holds."""
    changed = asyncio.Event()
    end = cache.subscribe(lambda *_: changed.set())
    async with asyncio.timeout(30):
        while not holds():
            await changed.wait()
            changed.clear()
    end()


def known(cache: WatchCache) -> dict[str, str]:
    """Values by name."""
    found = {one["metadata"]["name"]: one["data"].get("k", "") for one in cache.by_label("", "ConfigMap")}
    found.pop(ROOT, None)
    return found


@pytest.mark.parametrize("watch_list", [True, False])
async def test_it_follows_an_object_through_its_life(cluster: ApiCluster, maps: Resource, namespace: str, watch_list: bool) -> None:
    await write(cluster, maps, namespace, "there")
    async with watching(cluster, namespace, watch_list=watch_list) as cache:
        assert known(cache) == {"there": "1"}
        made = await write(cluster, maps, namespace, "a")
        await until(cache, lambda: "a" in known(cache))
        await write(cluster, maps, namespace, "a", "2")
        await until(cache, lambda: known(cache)["a"] == "2")
        await cluster.delete(maps, namespace, "a", uid=made["metadata"]["uid"])
        await until(cache, lambda: known(cache) == {"there": "1"})


async def test_a_watch_list_needs_no_list(cluster: ApiCluster, namespace: str) -> None:
    before = cluster.requests["list", "configmaps"]
    async with watching(cluster, namespace):
        assert cluster.requests["list", "configmaps"] == before


async def test_our_own_write_is_known_at_once_and_told_once(cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    async with watching(cluster, namespace) as cache:
        told: list[str] = []
        cache.subscribe(lambda ref, old, new: told.append(ref.name))
        cache.put(await write(cluster, maps, namespace, "a"))
        assert known(cache) == {"a": "1"}
        await write(cluster, maps, namespace, "last")
        await until(cache, lambda: "last" in known(cache))
        assert told.count("a") == 1


async def test_a_broken_stream_is_taken_up_without_a_list(
    control_plane: ControlPlane, cluster: ApiCluster, maps: Resource, namespace: str
) -> None:
    script = Script(drop_write=1, then="refuse")
    async with Faults(control_plane, script) as proxy, connect_to(proxy.url) as through, watching(through, namespace) as cache:
        writing = asyncio.ensure_future(write(through, maps, namespace, "cut"))  # takes the watch's connection down with its own
        await proxy.dropped.wait()
        await write(cluster, maps, namespace, "meanwhile")
        proxy.refusing = False
        await asyncio.gather(writing)
        await until(cache, lambda: set(known(cache)) == {"cut", "meanwhile"})
        assert (cache.sources()[0].lists, cache.sources()[0].streams > 1) == (1, True)


async def test_forgotten_history_is_listed_again_and_loses_no_deletion(
    control_plane: ControlPlane, cluster: ApiCluster, maps: Resource, namespace: str
) -> None:
    script = Script(gone_every=5)
    async with (
        Faults(control_plane, script) as proxy,
        connect_to(proxy.url) as through,
        watching(through, namespace, watch_list=False) as cache,
    ):
        for number in range(20):
            made = await write(cluster, maps, namespace, f"a{number}")
            if number % 2:
                await cluster.delete(maps, namespace, f"a{number}", uid=made["metadata"]["uid"])
        await until(cache, lambda: set(known(cache)) == {f"a{number}" for number in range(0, 20, 2)})
        assert proxy.injected["gone"]
        assert cache.sources()[0].lists > 1


async def test_a_stream_that_falls_silent_is_left(control_plane: ControlPlane, cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    script = Script(seed=1, stall=0.6, stall_seconds=1.5)
    async with (
        Faults(control_plane, script) as proxy,
        connect_to(proxy.url) as through,
        watching(through, namespace, stall=0.4, watch_list=False) as cache,
    ):
        for number in range(6):
            await write(cluster, maps, namespace, f"a{number}")
        await until(cache, lambda: len(known(cache)) == 6)


async def test_missing_permission_is_told_with_what_would_grant_it(control_plane: ControlPlane, namespace: str) -> None:
    async with connect(kubeconfig=str(control_plane.users["nobody"].kubeconfig)) as cluster:
        cache = WatchCache(cluster, [(CONFIG_MAP, namespace)])
        await cache.start()
        with pytest.raises(Forbidden, match="configmaps"):
            await cache.synced()
        await cache.stop()


async def test_values_of_secrets_are_not_kept(cluster: ApiCluster, namespace: str) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": namespace},
        "stringData": {"password": "hunter2"},
    }
    await cluster.apply(await cluster.resource(SECRET), secret, manager="tests")
    async with watching(cluster, namespace, SECRET) as cache:
        assert "aHVudGVyMg==" not in str(cache.by_label("", "Secret"))


async def test_reading_once_by_list_and_by_name_gives_the_same(cluster: ApiCluster, maps: Resource, namespace: str) -> None:
    await write(cluster, maps, namespace, "a")
    listed = await read_once(cluster, [(CONFIG_MAP, namespace)])
    named = await read_once(cluster, [Query(CONFIG_MAP, namespace, ("a", "none"))])
    for name in ("a", "none"):
        ref = Ref("", "ConfigMap", namespace, name)
        assert listed.get(ref) == named.get(ref)
