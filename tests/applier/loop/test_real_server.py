"""Leases and the loop on a real API server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from applier.cache import WatchCache
from applier.desired import Desired, Gone, Graph
from applier.errors import NotSynced
from applier.loop import FencedCluster, Lease, LeaseLost, Loop, Reconciler, Result, Timing, View
from applier.ref import Kind, Manifest, Ref
from applier.testing.control_plane import ControlPlane
from applier.transport import ApiCluster

pytestmark = pytest.mark.cluster

CONFIG_MAP, LEASE = Kind("", "v1", "ConfigMap"), Kind("coordination.k8s.io", "v1", "Lease")
QUICK = Timing(duration=2.0, renew=1.2, retry=0.2)


def candidate(cluster: ApiCluster, namespace: str, name: str) -> Lease:
    return Lease(cluster, namespace, "main", name, timing=QUICK, chance=Random(name))


@asynccontextmanager
async def standing(lease: Lease) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.ensure_future(lease.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_of_two_candidates_the_second_leads_when_the_first_is_gone(cluster: ApiCluster, namespace: str) -> None:
    first, second = (candidate(cluster, namespace, name) for name in "ab")
    async with asyncio.timeout(30), standing(first) as running:
        await first.held.wait()
        async with standing(second):
            running.cancel()  # as a crash: nothing is given back
            await second.held.wait()
            assert not first.fence.is_open
    stored = await cluster.get(await cluster.resource(LEASE), namespace, "main")
    assert (stored["spec"]["holderIdentity"], stored["spec"]["leaseTransitions"]) == ("b", 1)


async def test_a_lease_that_is_given_back_is_taken_at_once(cluster: ApiCluster, namespace: str) -> None:
    first, second = candidate(cluster, namespace, "a"), candidate(cluster, namespace, "b")
    async with asyncio.timeout(30), standing(first) as running:
        await first.held.wait()
        running.cancel()
        await first.release()
        async with standing(second):
            await second.held.wait()
    with pytest.raises(LeaseLost):
        await FencedCluster(cluster, first.fence).delete(await cluster.resource(CONFIG_MAP), namespace, "x", uid="u")


async def test_a_leader_renews_for_as_long_as_it_runs(cluster: ApiCluster, namespace: str) -> None:
    lease = candidate(cluster, namespace, "a")
    async with asyncio.timeout(30), standing(lease):
        await lease.held.wait()
        closes = lease.fence.closes
        while lease.fence.closes < closes + QUICK.duration:
            await asyncio.sleep(QUICK.retry)
            assert lease.held.is_set() and lease.fence.is_open


def config_map(namespace: str, name: str, data: dict[str, str], **metadata: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace, **metadata}, "data": data}


class Controller:
    """Makes as many ConfigMaps as the one named `set` says, owned by it."""

    def __init__(self, cluster: ApiCluster, namespace: str) -> None:
        self.cluster, self.namespace, self.errors = cluster, namespace, list[Exception]()
        self.cache = WatchCache(cluster, [(CONFIG_MAP, namespace)])
        reconcile = Reconciler[str](cluster, self.cache, manager="loop-tests", members=self.members, namespace=namespace)
        self.loop = Loop[str](
            self.cache, self.desired, reconcile, keys=lambda ref, *_: ["set"] if ref.name == "set" else [], on_result=self.seen
        )

    def seen(self, result: Result[str]) -> None:
        if result.error is not None:
            self.errors.append(result.error)

    def primary(self, view: View) -> Manifest | None:
        return view.get(Ref("", "ConfigMap", self.namespace, "set"))

    def desired(self, view: View, key: str) -> Graph | Gone:
        primary = self.primary(view)
        if primary is None:
            return Gone()
        owners = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "set", "uid": primary["metadata"]["uid"]}]
        count = int(primary["data"]["count"])
        return Graph([Desired(config_map(self.namespace, f"set-{n}", {"n": str(n)}, ownerReferences=owners)) for n in range(count)])

    def members(self, view: View, key: str) -> list[Manifest]:
        primary = self.primary(view)
        return view.by_owner(primary["metadata"]["uid"]) if primary else []

    def made(self) -> list[str]:
        try:
            known = self.cache.by_label("", "ConfigMap")
        except NotSynced:
            return []
        return [one["metadata"]["name"] for one in known if one["metadata"]["name"].startswith("set-")]

    async def until(self, holds: Callable[[], Any]) -> None:
        changed = asyncio.Event()
        end = self.cache.subscribe(lambda *_: changed.set())
        while not holds():
            await changed.wait()
            changed.clear()
        end()
        await self.loop.settled()


async def test_a_loop_follows_its_object_and_asks_nothing_when_all_is_well(
    control_plane: ControlPlane, cluster: ApiCluster, namespace: str
) -> None:
    controller = Controller(cluster, namespace)
    maps = await cluster.resource(CONFIG_MAP)
    running = asyncio.ensure_future(controller.loop.run())
    async with asyncio.timeout(60):
        for count in (3, 1):
            await cluster.apply(maps, config_map(namespace, "set", {"count": str(count)}), manager="user")
            await controller.until(lambda count=count: len(controller.made()) == count)  # type: ignore[misc]
        mark = control_plane.mark()
        controller.loop.enqueue("set")
        await controller.loop.settled()
        assert len(control_plane.requests(mark).only(agent="applier-tests", namespace=namespace)) == 0
        controller.loop.stop()
        await running
    assert controller.errors == []
