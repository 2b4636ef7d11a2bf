"""Leases and the loop on a real API server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from applier.cache import WatchCache
from applier.desired import Deletion, Desired, EventWrite, Gone, Graph, Hold, ObjectReference, StatusWrite
from applier.errors import NotSynced, WriteConflict
from applier.loop import DeletionOptions, FencedCluster, Lease, LeaseLost, Loop, Reconciler, Result, Timing, View
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
        self.cluster, self.namespace, self.results = cluster, namespace, list[Result[str]]()
        self.function: Callable[[View, str], Any] = self.desired
        self.cache = WatchCache(cluster, [(CONFIG_MAP, namespace)])
        reconcile = Reconciler[str](cluster, self.cache, manager="loop-tests", members=self.members, namespace=namespace)
        self.loop = Loop[str](
            self.cache,
            self.current,
            reconcile,
            keys=lambda ref, *_: ["set"] if ref.name == "set" else [],
            on_result=self.results.append,
        )

    def current(self, view: View, key: str) -> Any:
        """What the function of the moment says."""
        return self.function(view, key)

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
    assert [result.error for result in controller.results if result.error] == []


async def test_errors_delete_nothing_on_a_real_server_and_what_was_held_goes_on_afterwards(
    control_plane: ControlPlane, cluster: ApiCluster, namespace: str
) -> None:
    controller = Controller(cluster, namespace)
    maps, healthy = await cluster.resource(CONFIG_MAP), controller.desired
    answers: list[Any] = [Hold("not now"), None, ValueError("a bug")]
    running = asyncio.ensure_future(controller.loop.run())

    def broken(view: View, key: str) -> Any:
        answer = answers[min(len(controller.results), len(answers) - 1)]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with asyncio.timeout(60):
        await cluster.apply(maps, config_map(namespace, "set", {"count": "5"}), manager="user")
        await controller.until(lambda: len(controller.made()) == 5)
        mark = control_plane.mark()
        controller.results.clear()
        controller.function = broken
        await cluster.apply(maps, config_map(namespace, "set", {"count": "1"}), manager="user")
        for _ in range(10):
            controller.loop.enqueue("set")
            await asyncio.sleep(0.05)
        assert control_plane.requests(mark).only(agent="applier-tests", verb="delete", namespace=namespace).writes.by("verb") == {}
        assert {"not now", "ValueError: a bug"} <= {result.held for result in controller.results}
        controller.function = healthy
        controller.loop.enqueue("set")
        await controller.until(lambda: len(controller.made()) == 1)
        controller.loop.stop()
        await running


async def test_statuses_and_attributed_deletions_on_a_real_server(cluster: ApiCluster, namespace: str) -> None:
    """A budget's status is ours as long as nobody selects its pods; the object is then deleted with the reason on it."""
    kind = Kind("policy", "v1", "PodDisruptionBudget")
    budgets, name = await cluster.resource(kind), Ref(kind.group, kind.kind, namespace, "budget")
    manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "budget", "namespace": namespace}}
    await cluster.apply(budgets, {**manifest, "spec": {"minAvailable": 1}}, manager="user")
    cache = WatchCache(cluster, [(kind, namespace)])
    reconcile = Reconciler[str](cluster, cache, manager="loop-tests", namespace=namespace, deletions=DeletionOptions("example.com/why"))
    await cache.start()
    last: list[Manifest] = []
    cache.subscribe(lambda ref, old, new: last.append(old) if old and not new else None)
    try:
        await cache.synced()

        def graph(**more: Any) -> Graph:
            live = cache.get(name)
            assert live
            counts = dict.fromkeys(("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"), 7)
            version = live["metadata"]["resourceVersion"]
            return Graph([], statuses=[StatusWrite(ObjectReference.of(live), counts, version)], **more)

        stale = graph()
        while any(outcome.error for outcome in await reconcile("key", graph(), View(cache))):
            continue  # the controller of budgets was faster
        refused = await reconcile("key", stale, View(cache))
        assert all(isinstance(outcome.error, WriteConflict) for outcome in refused)
        about = ObjectReference.of(cache.get(name) or {})
        event = EventWrite(about, "Normal", "Done", "no longer needed")
        outcomes = await reconcile("key", Graph([], events=[event, event], deletions=[Deletion(about, "no longer needed")]), View(cache))
        assert [str(outcome.action) for outcome in outcomes] == ["created", "pruned"]
        assert last[0]["metadata"]["annotations"] == {"example.com/why": "no longer needed"}
        assert cache.get(name) is None, "the cache knows it before the watch tells"
    finally:
        await cache.stop()
