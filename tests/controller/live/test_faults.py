"""What breaks around the operator, as docs/operator.md says under "When things break": a server, its storage, nodes, watches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import pytest

from applier.errors import ApplierError
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError
from applier.testing.kinds import ClusterKind
from applier.testing.proxy import Faults
from tests.connecting import connect_to
from tests.invariants.plane import judged_plane

from .account import account_of
from .conftest import opened, with_grove
from .test_reported import pod_of, scale
from .world import AGENT, BASE, FRONT, KINDS, SCALED, SERVING, LiveCluster, is_ready

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler", "kube-controller-manager")

NODE = Kind("", "v1", "Node")
AWAY = 12.0
"""Seconds that something is broken: long enough for requests to fail some times, and not so long that nodes count as lost."""
ALL = (*FRONT, *BASE, *SCALED)


@pytest.fixture(scope="module")
def breakable_plane(cluster_kind: ClusterKind) -> Iterator[ControlPlane]:
    """One whose servers may be broken: for so long an operator may not hear of what others do."""
    with judged_plane(lag=2 * AWAY, kind=cluster_kind) as plane:
        yield with_grove(plane)


@pytest.fixture
async def world(breakable_plane: ControlPlane) -> AsyncIterator[LiveCluster]:
    """A set that runs, and an operator of which nothing unforeseen may come."""
    async with opened(breakable_plane, breakable_plane.create_namespace()) as there:
        around = asyncio.create_task(look_after(there))
        await there.start()
        await there.apply(SERVING)
        await there.until_ready(*ALL)
        await there.at_rest()
        yield there
        around.cancel()
        await asyncio.gather(around, return_exceptions=True)
        await there.stop()
        assert [one.error for one in there.results if one.error is not None and not isinstance(one.error, ApplierError)] == []
        breakable_plane.clear_namespace(there.namespace)


async def look_after(world: LiveCluster) -> None:
    """Starts what ended with the API server, as a kubelet does, and lets pods that Kubernetes took for lost report themselves again.

    kwok does neither: its pods have become ready once and for all.
    """
    while True:
        for server in world.plane.running:
            if server.ended and server.name != "kube-apiserver":
                server.start()
        with suppress(ApplierError):
            nodes = (await world.cluster.list(await world.cluster.resource(NODE))).items
            there = {one["metadata"]["name"] for one in nodes if is_ready(one)}
            for pod in await world.objects("pods"):
                if pod["spec"].get("nodeName") in there and pod["status"].get("phase") == "Running" and not is_ready(pod):
                    await report_ready(world, pod)
        await asyncio.sleep(1.0)


async def report_ready(world: LiveCluster, pod: Manifest) -> None:
    """What a kubelet says that has got over it."""
    conditions = [{**one, "status": "True"} if one["type"] == "Ready" else one for one in pod["status"]["conditions"]]
    resource = await world.cluster.resource(KINDS["pods"])
    body = {"status": {"conditions": conditions}}
    await world.cluster.patch(resource, world.namespace, pod["metadata"]["name"], body, manager="kubelet", subresource="status")


async def uids(world: LiveCluster) -> dict[str, str]:
    """The pods that nobody has asked to go, by hostname."""
    pods = [one for one in await world.objects("pods") if not one["metadata"].get("deletionTimestamp")]
    return {one["spec"]["hostname"]: one["metadata"]["uid"] for one in pods}


async def answers(plane: ControlPlane) -> bool:
    try:
        await asyncio.to_thread(plane.request, "GET", "/readyz")
    except ControlPlaneError:
        return False
    return True


async def other_than(world: LiveCluster, hostname: str, uid: str) -> bool:
    """Whether another pod stands in the place of one."""
    return (await uids(world)).get(hostname, uid) != uid


async def test_while_the_api_server_is_away_nothing_changes_and_then_all_is_made_good(world: LiveCluster) -> None:
    before = await uids(world)
    server = world.plane.server("kube-apiserver")
    await asyncio.to_thread(server.stop)
    await asyncio.sleep(AWAY)
    server.start()
    await world.until(lambda: answers(world.plane), True)
    victim = (await pod_of(world, FRONT[0]))["metadata"]
    await world.kubectl("delete", "pod", victim["name"], "--wait=false")
    await world.until(lambda: other_than(world, FRONT[0], victim["uid"]), True)
    await world.until_ready(*ALL)
    await world.at_rest()
    kept = {name: uid for name, uid in (await uids(world)).items() if name != FRONT[0]}
    assert kept == {name: uid for name, uid in before.items() if name != FRONT[0]}


@pytest.mark.parametrize("name", ["etcd", "kube-apiserver"])
async def test_a_server_or_its_storage_that_stands_still_is_waited_for(world: LiveCluster, name: str) -> None:
    """Whatever was asked may have been done or not, and watches tell nothing: in the end there is what is wanted, and each pod once."""
    before = await uids(world)
    server = world.plane.server(name)
    await scale(world, "podcliquescalinggroup", "chat-0-model", 6)
    server.pause()
    try:
        await asyncio.sleep(AWAY)
    finally:
        server.resume()
    more = tuple(hostname.replace("model-1", f"model-{index}") for index in range(2, 6) for hostname in SCALED)
    await world.until_ready(*ALL, *more)
    await world.at_rest()
    assert len(await world.objects("pods")) == len(ALL) + len(more)
    assert before.items() <= (await uids(world)).items()


async def test_434_nodes_that_are_lost_are_noticed_and_when_they_are_back_the_same_pods_serve(world: LiveCluster) -> None:
    """Kubernetes says of their pods that they are not ready. A pod that is deleted then goes only when its node is back."""
    before = await uids(world)
    nodes = world.plane.server("kwok")
    nodes.pause()
    try:
        await world.until(lambda: reported(world, "availableReplicas"), 0)
        assert await world.hostnames(is_ready) == []
        victim = (await pod_of(world, FRONT[0]))["metadata"]
        await world.kubectl("delete", "pod", victim["name"], "--wait=false", "--grace-period=60")
        await world.until(lambda: other_than(world, FRONT[0], victim["uid"]), True)
        assert victim["uid"] in {one["metadata"]["uid"] for one in await world.objects("pods")}, "nobody confirms that it is gone"
    finally:
        nodes.resume()
    await world.until_ready(*ALL)
    await world.until(lambda: reported(world, "availableReplicas"), 1)
    assert {name: uid for name, uid in before.items() if name != FRONT[0]}.items() <= (await uids(world)).items()


async def reported(world: LiveCluster, field: str) -> Any:
    [one] = await world.objects("sets")
    return one["status"].get(field)


async def test_watches_that_break_all_the_time_lose_nothing(world: LiveCluster) -> None:
    """Each ends without a word, as behind a load balancer whose server has ended, and so does whatever is being written."""
    await world.stop()
    token = json.loads(account_of(world.plane).read_text())["users"][0]["user"]["token"]
    async with Faults(world.plane) as proxy, connect_to(proxy.url, token=token, user_agent=AGENT) as world.operators:
        await world.start()
        for broken, replicas in enumerate((3, 1, 4, 2)):
            await scale(world, "podcliquescalinggroup", "chat-0-model", replicas)
            before = len(world.results)
            await world.until(lambda: looked(world, before), True)  # noqa: B023 - awaited in this very round
            await world.until(lambda: has_watched(proxy, broken + 1), True)  # noqa: B023
            proxy.reset()
        await world.until_ready(*ALL)
        await world.at_rest()
        await world.until(lambda: count(world), len(ALL))  # kwok has yet to confirm that some are gone
        await world.until(lambda: has_watched(proxy, 5), True)
        await world.stop()


async def has_watched(proxy: Faults, times: int) -> bool:
    return proxy.requests.only(verb="watch").by("resource")["pods"] >= times


async def looked(world: LiveCluster, before: int) -> bool:
    """Whether the operator has looked at anything since, so that it is in the middle of its work."""
    return len(world.results) > before


async def count(world: LiveCluster) -> int:
    return len(await world.objects("pods"))
