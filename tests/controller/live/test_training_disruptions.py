"""What takes pods of training workloads away on a real control plane: deletions, evictions, preemptions and lost nodes, and what is told.

An operator that is slow sees a pod only when it is gone: here it stands still until then, as on a busy machine.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from applier.ref import Manifest
from tests.permitted import permitted, resources

from .conftest import node
from .world import PATIENCE, LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

RANKS = ("chat-0-rank-0", "chat-0-rank-1")
POOL = "example.com/pool"
Intervention = Callable[[LiveCluster, str], None]


def job(*, ignored: bool = False, pool: str = "", grace: int = 0, cpu: str = "10m") -> Manifest:
    """Two ranks with a budget of one restart; with a `pool`, on its nodes alone."""
    rank = clique("rank", 2)
    rank["spec"]["podSpec"] |= {"terminationGracePeriodSeconds": grace, **({"nodeSelector": {POOL: pool}} if pool else {})}
    rank["spec"]["podSpec"]["containers"][0]["resources"] = resources(cpu)
    manifest = pod_clique_set(rank)
    manifest["spec"] |= {"workloadType": "Training", "trainingSpec": {"maxRestarts": 1, "ignoreDisruptions": ignored}}
    return manifest


async def run(world: LiveCluster, manifest: Manifest) -> None:
    await world.apply(manifest)
    await world.until_ready(*RANKS)
    await world.until(lambda: told(world, "phase"), "Running")


async def told(world: LiveCluster, field: str) -> Any:
    [set] = await world.objects("sets")
    return set.get("status", {}).get(field)


async def ended(world: LiveCluster) -> list[tuple[str, bool]]:
    return [(one["cause"], one["counted"]) for one in await told(world, "attempts") or []]


async def counts(world: LiveCluster) -> tuple[int, int]:
    """The restarts that were counted, and those because of disruptions."""
    return await told(world, "restartCount") or 0, await told(world, "disruptionCount") or 0


async def living(world: LiveCluster) -> dict[str, Manifest]:
    return {pod["spec"]["hostname"]: pod for pod in await world.objects("pods") if not pod["metadata"].get("deletionTimestamp")}


def kubectl(world: LiveCluster, *arguments: str, input: Any = None) -> None:
    """Runs kubectl while nothing else happens in this process: the operator stands still."""
    world.plane.kubectl("-n", world.namespace, *arguments, input=None if input is None else json.dumps(input))


def delete(world: LiveCluster, pod: str) -> None:
    kubectl(world, "delete", "pod", pod)


def force(world: LiveCluster, pod: str) -> None:
    kubectl(world, "delete", "pod", pod, "--force", "--grace-period=0")


def evict(world: LiveCluster, pod: str) -> None:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": world.namespace}}
    kubectl(world, "create", "--raw", f"/api/v1/namespaces/{world.namespace}/pods/{pod}/eviction", "-f", "-", input=eviction)
    kubectl(world, "wait", "--for=delete", f"pod/{pod}", f"--timeout={PATIENCE}s")


INTERVENTIONS: dict[str, tuple[Intervention, str]] = {
    "a deletion": (delete, "PodDeleted"),
    "a forced deletion": (force, "PodDeleted"),
    "an eviction": (evict, "PodDisrupted"),
}


@pytest.mark.parametrize("grace", [0, 2])
@pytest.mark.parametrize("what", INTERVENTIONS)
async def test_a_slow_operator_knows_who_took_a_pod_away(what: str, grace: int, world: LiveCluster) -> None:
    intervention, cause = INTERVENTIONS[what]
    await run(world, job(grace=grace))
    intervention(world, (await living(world))[RANKS[1]]["metadata"]["name"])
    await world.until(lambda: ended(world), [(cause, True)])
    await world.until_ready(*RANKS)
    assert await counts(world) == (1, int(cause == "PodDisrupted"))


async def test_a_pod_that_goes_while_no_operator_runs_is_lost(world: LiveCluster) -> None:
    await run(world, job())
    await world.kill()
    evict(world, (await living(world))[RANKS[0]]["metadata"]["name"])
    await world.start()
    await world.until(lambda: ended(world), [("PodLost", True)])
    await world.until_ready(*RANKS)


@asynccontextmanager
async def pool(world: LiveCluster, size: int) -> AsyncIterator[list[str]]:
    """Nodes of one CPU each that only this test uses, by name."""
    names = [f"{world.namespace}-{number}" for number in range(size)]
    for name in names:
        made = node(0)
        made["metadata"] |= {"name": name, "labels": {POOL: world.namespace, "kubernetes.io/hostname": name}}
        made["status"]["capacity"]["cpu"] = made["status"]["allocatable"]["cpu"] = "1"
        world.plane.objects.apply([made])
    try:
        await world.until(lambda: taints(world, names), [])  # a taint that is set while the node controller removes its own is lost
        yield names
    finally:
        await world.kubectl("delete", "node", *names, "--ignore-not-found")


async def taints(world: LiveCluster, names: list[str]) -> list[str]:
    nodes = [await world.get("node", name) for name in names]
    return [taint["key"] for one in nodes for taint in one["spec"].get("taints") or []]


async def node_goes(world: LiveCluster, name: str) -> None:
    await world.kubectl("delete", "node", name)


async def node_is_tainted(world: LiveCluster, name: str) -> None:
    """As the node controller does it with a node that does not answer any more."""
    await world.kubectl("taint", "node", name, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("lose", [node_goes, node_is_tainted])
async def test_a_node_that_is_lost_is_a_disruption(lose: Any, ignored: bool, world: LiveCluster) -> None:
    async with pool(world, 4) as names:
        await run(world, job(ignored=ignored, pool=world.namespace, cpu="800m"))
        lost = (await living(world))[RANKS[0]]["spec"]["nodeName"]
        await lose(world, lost)
        await world.until(lambda: ended(world), [("PodDisrupted", not ignored)])
        await world.until_ready(*RANKS)
        assert await counts(world) == (int(not ignored), 1)
        assert {pod["spec"]["nodeName"] for pod in (await living(world)).values()} <= set(names) - {lost}


@pytest.mark.parametrize("ignored", [False, True])
async def test_a_preemption_is_a_disruption_and_the_next_attempt_waits_for_room(ignored: bool, world: LiveCluster) -> None:
    urgent = f"urgent-{world.namespace}"
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": urgent}, "value": 1000}
    async with pool(world, 2):
        await run(world, job(ignored=ignored, pool=world.namespace, cpu="800m"))
        box = permitted({"name": "box", "image": "i", "resources": resources("800m")})
        spec = {
            "priorityClassName": urgent,
            "containers": [box],
            "nodeSelector": {POOL: world.namespace},
            "terminationGracePeriodSeconds": 0,
        }
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "urgent"}, "spec": spec}
        try:
            await world.kubectl("create", "-f", "-", input=priority)
            await world.kubectl("create", "-f", "-", input=pod)
            await world.until(lambda: ended(world), [("PodDisrupted", not ignored)])
            assert (await told(world, "attempts"))[0]["message"] == "PreemptionByScheduler"
            await world.until(lambda: counts(world), (int(not ignored), 1))
            await world.kubectl("delete", "pod", "urgent", "--grace-period=0", "--force")
            await world.until_ready(*RANKS)
            await world.until(lambda: told(world, "phase"), "Running")
        finally:
            await world.kubectl("delete", "priorityclass", urgent, "--ignore-not-found")
