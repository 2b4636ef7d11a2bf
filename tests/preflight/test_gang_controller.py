"""The gang controller on a cluster in memory: ConfigMaps come, change and go with the pods of their gangs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from applier.cache import WatchCache
from applier.errors import Unreachable
from applier.ref import Manifest, Ref
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time
from grove_compiler.model.preflight.gang import LABEL
from grove_operator.preflight.gangs import WATCHED, GangController

from ..applier.free_schemas import FreeSchemas
from ..shipped import program
from .injecting import values_of
from .test_gang_config import VALUES, WORKLOAD, pod

NAME = "preflight-myworkload-group1"
FAILED: dict[str, Any] = {
    "name": "preflight-nccl-allreduce",
    "state": {"terminated": {"exitCode": 1, "containerID": "c1", "message": "# slow"}},
}


def world() -> MemoryCluster:
    """A cluster with the namespace, and the kind of a gang's object."""
    cluster = MemoryCluster(schemas=FreeSchemas(), namespaces=("training",))
    names = {"kind": "Workload", "plural": "workloads"}
    spec = {"group": "scheduling.k8s.io", "names": names, "scope": "Namespaced", "versions": [{"name": "v1alpha1", "served": True}]}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    cluster.seed({**kind, "metadata": {"name": "workloads.scheduling.k8s.io"}, "spec": spec})
    return cluster


@asynccontextmanager
async def controller_running(cluster: MemoryCluster, now: float = 0.0) -> AsyncIterator[None]:
    """Lets the controller run, and looks at the cluster a while after each change."""
    cache = WatchCache(cluster, WATCHED, chance=Random(1))
    controller = GangController(cluster, values_of(VALUES), program(), cache, clock=lambda: now)
    task = asyncio.ensure_future(controller.run())
    await asyncio.sleep(5)
    try:
        yield
    finally:
        controller.stop()
        await task


def found(cluster: MemoryCluster, name: str = NAME) -> Manifest | None:
    return cluster.store.objects.get(Ref("", "ConfigMap", "training", name))


def peers(cluster: MemoryCluster) -> list[str]:
    config = found(cluster)
    return config["data"]["peers"].split() if config is not None else []


@in_virtual_time
async def test_pods_that_wait_for_their_gang_get_its_config_map() -> None:
    cluster = world()
    cluster.seed(WORKLOAD, pod("pod-0", "10.0.1.5"), pod("pod-1", "10.0.1.6"))
    async with controller_running(cluster):
        config = found(cluster)
        assert config is not None
        assert config["data"] == {"expected_count": "2", "master_addr": "10.0.1.5", "peers": "pod-0:10.0.1.5\npod-1:10.0.1.6\n"}


@in_virtual_time
async def test_a_gang_of_64_pods_forms_as_its_pods_get_addresses() -> None:
    cluster = world()
    cluster.seed(*(pod(f"pod-{number:02}") for number in range(64)))
    async with controller_running(cluster):
        assert peers(cluster) == []
        cluster.seed(*(pod(f"pod-{number:02}", f"10.0.1.{number}") for number in range(64)))
        await asyncio.sleep(5)
        assert peers(cluster) == [f"pod-{number:02}:10.0.1.{number}" for number in range(64)]


@in_virtual_time
async def test_a_config_map_that_somebody_deletes_comes_back() -> None:
    cluster = world()
    cluster.seed(WORKLOAD, pod("pod-0", "10.0.1.5"))
    async with controller_running(cluster):
        cluster.store.remove(Ref("", "ConfigMap", "training", NAME))
        await asyncio.sleep(5)
        assert peers(cluster) == ["pod-0:10.0.1.5"]


@in_virtual_time
async def test_a_pod_that_is_replaced_under_way_is_replaced_among_the_peers() -> None:
    cluster = world()
    cluster.seed(WORKLOAD, pod("pod-0", "10.0.1.5"), pod("pod-1", "10.0.1.6"))
    async with controller_running(cluster):
        cluster.store.remove(Ref("", "Pod", "training", "pod-1"))
        cluster.seed(pod("pod-2", "10.0.1.7"))
        await asyncio.sleep(5)
        assert peers(cluster) == ["pod-0:10.0.1.5", "pod-2:10.0.1.7"]


@in_virtual_time
async def test_the_config_map_goes_with_the_last_pod() -> None:
    cluster = world()
    cluster.seed(WORKLOAD, pod("pod-0", "10.0.1.5"))
    async with controller_running(cluster):
        cluster.store.remove(Ref("", "Pod", "training", "pod-0"))
        await asyncio.sleep(5)
        assert found(cluster) is None


@in_virtual_time
async def test_a_config_map_whose_pods_went_while_nobody_looked_goes_as_well() -> None:
    cluster = world()
    cluster.seed(WORKLOAD, pod("pod-0", "10.0.1.5"))
    async with controller_running(cluster):
        assert found(cluster) is not None
    cluster.store.remove(Ref("", "Pod", "training", "pod-0"))
    async with controller_running(cluster):
        assert found(cluster) is None


@in_virtual_time
async def test_a_config_map_of_somebody_else_s_is_not_the_gang_s_whatever_its_name() -> None:
    cluster = world()
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME, "namespace": "training"}, "data": {"a": "b"}}
    cluster.seed(WORKLOAD, theirs, pod("pod-0", "10.0.1.5"))
    async with controller_running(cluster):
        config = found(cluster) or {}
        assert (config["data"], config["metadata"].get("ownerReferences")) == ({"a": "b"}, None)


def relabelled(manifest: Manifest) -> Manifest:
    """An object that somebody has given the label of another gang."""
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**metadata["labels"], LABEL: "another"}}}


@in_virtual_time
async def test_a_config_map_with_the_label_of_another_gang_is_put_right_once() -> None:
    cluster = world()
    cluster.seed(WORKLOAD, pod("pod-0", "10.0.1.5"))
    async with controller_running(cluster):
        config, before = found(cluster) or {}, cluster.store.version
        cluster.seed(relabelled(config))
        await asyncio.sleep(60)
        assert ((found(cluster) or {})["metadata"]["labels"], peers(cluster)) == (config["metadata"]["labels"], ["pod-0:10.0.1.5"])
        assert cluster.store.version <= before + 3


@in_virtual_time
async def test_a_pod_with_the_label_of_another_gang_does_not_take_the_config_map_of_its_own() -> None:
    cluster = world()
    cluster.seed(WORKLOAD, pod("pod-0", "10.0.1.5"), pod("pod-1", "10.0.1.6"))
    async with controller_running(cluster):
        before = cluster.store.version
        cluster.seed(relabelled(pod("pod-1", "10.0.1.6")))
        await asyncio.sleep(60)
        assert peers(cluster) == ["pod-0:10.0.1.5"]
        assert cluster.store.version <= before + 2
        cluster.store.remove(Ref("", "Pod", "training", "pod-0"))
        await asyncio.sleep(5)
        assert peers(cluster) == ["pod-1:10.0.1.6"], "nobody else is left to say so"


@in_virtual_time
async def test_other_config_maps_stay_what_they_are() -> None:
    cluster = world()
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "training"}, "data": {"a": "b"}}
    cluster.seed(WORKLOAD, other, pod("pod-0", "10.0.1.5"))
    async with controller_running(cluster):
        assert peers(cluster) == ["pod-0:10.0.1.5"]
        assert (found(cluster, "settings") or {})["data"] == {"a": "b"}


@in_virtual_time
async def test_people_are_told_once_that_a_check_has_failed_also_by_two_controllers() -> None:
    cluster = world()
    failed = pod("pod-0", "10.0.1.5", phase="Pending")
    cluster.seed(WORKLOAD, {**failed, "status": {**failed["status"], "initContainerStatuses": [FAILED]}})
    async with controller_running(cluster), controller_running(cluster):
        told = [one for one in cluster.store.objects.values() if one["kind"] == "Event"]
    assert [(one["reason"], one["involvedObject"]["name"], one["message"]) for one in told] == [
        ("PreflightCheckFailed", "pod-0", "Check nccl-allreduce failed on node unknown (EXIT_1): slow")
    ]


ENDED_AT, AN_HOUR = 1767225690.0, 3600.0
"""2026-01-01T00:01:30Z"""


@in_virtual_time
@pytest.mark.parametrize(("later", "told"), [(60.0, 1), (AN_HOUR + 60.0, 0)])
async def test_what_ended_so_long_ago_that_events_of_it_are_gone_is_not_told_again(later: float, told: int) -> None:
    cluster = world()
    terminated = {**FAILED["state"]["terminated"], "finishedAt": "2026-01-01T00:01:30Z"}
    failed = pod("pod-0", "10.0.1.5", phase="Running")
    statuses = [{**FAILED, "state": {"terminated": terminated}}]
    cluster.seed(WORKLOAD, {**failed, "status": {**failed["status"], "initContainerStatuses": statuses}})
    async with controller_running(cluster, now=ENDED_AT + later):
        assert sum(one["kind"] == "Event" for one in cluster.store.objects.values()) == told


@in_virtual_time
async def test_a_gang_forms_once_an_api_server_is_back_that_was_away() -> None:
    cluster = world()
    cluster.seed(WORKLOAD)
    async with controller_running(cluster):
        cluster.fail(lambda _: True, Unreachable("connection refused"), times=-1)
        cluster.end_watches(Unreachable("connection reset"))
        cluster.seed(pod("pod-0", "10.0.1.5"), pod("pod-1", "10.0.1.6"))
        await asyncio.sleep(300)
        assert found(cluster) is None
        cluster.faults.clear()
        await asyncio.sleep(120)
        assert peers(cluster) == ["pod-0:10.0.1.5", "pod-1:10.0.1.6"]
