"""A server with conflicts, throttling, resets, stalls and forgotten history: what is wanted comes about, and nothing false is said."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from applier.cache import WatchCache
from applier.cluster import Cluster
from applier.desired import Desired, Graph
from applier.outcome import Action
from applier.ref import Kind, Manifest, Ref
from applier.run.options import ApplyOptions, Report
from applier.run.pipeline import apply
from applier.testing.control_plane import ControlPlane
from applier.testing.proxy import Faults
from applier.transport.connect import connect
from tests.connecting import connect_to

from ...benchmarks.applier_workload import mixed_objects
from .hostility import contains, false_claims, hostile, live_objects

pytestmark = pytest.mark.cluster
RUNS = 8
CONFIG_MAP = Kind("", "v1", "ConfigMap")


async def applied(objects: list[Manifest], cluster: Cluster) -> Report:
    return await apply(Graph([Desired(manifest) for manifest in objects]), cluster, ApplyOptions("hostile"))


async def test_runs_through_a_hostile_server_converge_and_claim_nothing_false(control_plane: ControlPlane, namespace: str) -> None:
    objects = mixed_objects(150, namespace)
    async with Faults(control_plane, hostile(1, times=5, stall_seconds=0.3)) as proxy, connect_to(proxy.url) as cluster:
        for _ in range(RUNS):
            report = await applied(objects, cluster)
            assert false_claims(report.outcomes, objects, live_objects(control_plane, namespace)) == []
            if report.ok:
                break
        assert report.ok, report.problems()
        assert {"conflict", "too-many-requests"} <= proxy.injected.keys()
    live = live_objects(control_plane, namespace)
    assert all(contains(live.get((one["kind"], one["metadata"]["name"])), one) for one in objects)


async def test_what_converged_is_unchanged_for_the_next_run(control_plane: ControlPlane, namespace: str) -> None:
    objects = mixed_objects(60, namespace)
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        await applied(objects, cluster)
    async with Faults(control_plane, hostile(2, times=5, stall_seconds=0.3)) as proxy, connect_to(proxy.url) as cluster:
        report = await applied(objects, cluster)
        assert report.counts == {Action.UNCHANGED: 60}
        assert len(proxy.requests.writes) == 0


async def test_nothing_is_called_unchanged_that_somebody_edits_behind_a_hostile_server(control_plane: ControlPlane, namespace: str) -> None:
    objects = [one for one in mixed_objects(60, namespace) if one["kind"] == "ConfigMap"]
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        await applied(objects, cluster)
    edit = {"data": {"key-0": "edited"}}
    for one in objects:
        path = f"/api/v1/namespaces/{namespace}/configmaps/{one['metadata']['name']}"
        control_plane.request("PATCH", path, edit, content_type="application/merge-patch+json")
    async with Faults(control_plane, hostile(3, times=5, stall_seconds=0.3)) as proxy, connect_to(proxy.url) as cluster:
        report = await applied(objects, cluster)
    assert Action.UNCHANGED not in report.counts


async def churn(cluster: Cluster, namespace: str, rounds: int) -> None:
    """Writes and deletes objects in turns, undisturbed."""
    chance, resource = Random(7), await cluster.resource(CONFIG_MAP)
    for number in range(rounds):
        name = f"churn-{chance.randrange(20)}"
        if chance.random() < 0.2:
            for item in (await cluster.list(resource, namespace)).items:
                if item["metadata"]["name"] == name:
                    await cluster.delete(resource, namespace, name, uid=item["metadata"]["uid"])
        else:
            manifest = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": namespace},
                "data": {"n": str(number)},
            }
            await cluster.apply(resource, manifest, manager="churn", force=True)


async def settled(cache: WatchCache, cluster: Cluster, namespace: str) -> None:
    """Returns when the cache has every object in the version that the server has, and no other."""
    resource = await cluster.resource(CONFIG_MAP)
    while True:
        items = (await cluster.list(resource, namespace)).items
        versions = {Ref.of(item): item["metadata"]["resourceVersion"] for item in items}
        known = {Ref.of(item): item["metadata"]["resourceVersion"] for item in cache.by_label("", "ConfigMap", namespace=namespace)}
        if versions == known:
            return
        await asyncio.sleep(0.1)


async def test_a_cache_behind_a_hostile_server_ends_as_the_server_is(control_plane: ControlPlane, namespace: str) -> None:
    script = hostile(4, times=20, stall_seconds=1.0)
    async with (
        Faults(control_plane, script) as proxy,
        connect_to(proxy.url) as behind,
        connect(kubeconfig=str(control_plane.kubeconfig)) as cluster,
    ):
        cache = WatchCache(behind, [(CONFIG_MAP, namespace)], stall=0.5)
        await cache.start()
        try:
            async with asyncio.timeout(90):
                await cache.synced()
                await churn(cluster, namespace, 300)
                await settled(cache, cluster, namespace)
        finally:
            await cache.stop()
        assert proxy.injected["gone"] > 0
