"""Pods get checks whoever makes them: each of Kubernetes' own controllers, and Grove's PodCliques."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from applier.transport import connect
from tests.applier.transport.certificates import needs_openssl
from tests.controller.live.world import LiveCluster, clique, pod_clique_set

from .admission import NAMES, Admission
from .workloads import CONTAINER, OWNERS

pytestmark = [pytest.mark.cluster("kube-controller-manager"), needs_openssl]


def test_pods_of_every_kind_of_owner_get_checks(own: Admission) -> None:
    owners = ["Pod", *OWNERS]
    for owner in owners:
        own.create(f"made-{owner.lower()}", owner=owner)

    def checks() -> dict[str, list[str]]:
        """The init containers of the first pod of each owner, whose name its own begins with."""
        found = {pod["metadata"]["name"]: [one["name"] for one in pod["spec"].get("initContainers", ())] for pod in own.items("pods")}
        return {owner: found[name] for owner in owners for name in found if name.startswith(f"made-{owner.lower()}")}

    own.wait_for(lambda: len(checks()) == len(owners), f"of {owners} some made no pod")
    assert checks() == dict.fromkeys(owners, NAMES)


async def test_pods_of_a_pod_clique_get_checks_and_form_the_gang_that_their_pod_gang_is(own: Admission) -> None:
    workers = clique("work", 2)
    workers["spec"]["podSpec"]["containers"] = [CONTAINER]
    async with connect(kubeconfig=str(own.plane.kubeconfig)) as cluster:
        world = LiveCluster(own.plane, cluster, own.namespace)
        await world.start()
        try:
            await world.apply(pod_clique_set(workers))
            await world.until(lambda: asyncio.to_thread(own.checks), [NAMES, NAMES])
            pods = await world.names("pods")
            for number, pod in enumerate(pods):
                await asyncio.to_thread(own.give_address, pod, f"10.0.1.{number}")
            await world.until(lambda: asyncio.to_thread(own.peers), [f"{pod}:10.0.1.{number}" for number, pod in enumerate(pods)])
            assert (await asyncio.to_thread(config_map, own))["expected_count"] == "2"
            await world.at_rest()
            assert await world.names("pods") == pods, "the operator takes its own pods for outdated ones"
        finally:
            await world.stop()


def config_map(own: Admission) -> Any:
    return own.get("configmap preflight-chat-0")["data"]
