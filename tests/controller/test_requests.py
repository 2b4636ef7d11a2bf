"""What a change costs the server and the operator: as many requests and looks as it is about objects, however large the set is."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from applier.ref import Kind, Manifest
from applier.testing.virtual_time import in_virtual_time
from grove_compiler.step import Key

from .whole import REPLICAS, operator_running

SET = Key("PodCliqueSet", "default", "chat")


def ready(pod: Manifest) -> Manifest:
    conditions: list[dict[str, Any]] = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]
    return {**pod, "status": {"phase": "Running", "conditions": conditions}}


@in_virtual_time
async def test_a_replica_that_goes_costs_one_delete_for_each_object_and_one_note_of_what_is_declared() -> None:
    async with operator_running() as world:
        await world.declare(REPLICAS - 2, 2)
        objects = {"pods": 4, "podcliques": 2, "podgangs": 2, "services": 2}
        assert {what: count for what, count in world.writes().items() if what != "apply podcliquesets"} == {
            "apply controllerrevisions": 1,
            **{f"delete {what}": count for what, count in objects.items()},
        }


@in_virtual_time
async def test_the_services_and_pods_of_all_replicas_that_go_are_deleted_before_anything_else() -> None:
    async with operator_running() as world:
        await world.declare(0, 2)
        deleted = [one.resource.plural for one in world.cluster.writes() if one.verb == "delete"]
        assert Counter(deleted[: 3 * REPLICAS]) == {"services": REPLICAS, "pods": 2 * REPLICAS}


@in_virtual_time
async def test_a_change_of_one_pod_is_looked_at_by_its_replica_and_its_set() -> None:
    async with operator_running() as world:
        [pod] = [one for one in world.of(Kind("", "v1", "Pod")) if one["spec"]["hostname"] == "chat-3-worker-1"]
        await world.seed(ready(pod))
        assert {result.key for result in world.results} == {SET, SET._replace(replica=3)}
        assert len(world.results) <= 4
        assert world.writes() == {"apply podcliques": 1}


@in_virtual_time
@pytest.mark.parametrize(("seconds", "told"), [(0.5, 0), (1.5, 2)])
async def test_a_clique_says_that_it_lacks_a_pod_when_that_lasts(seconds: float, told: int) -> None:
    async with operator_running() as world:
        pods = [one for one in world.of(Kind("", "v1", "Pod")) if "chat-3-worker" in one["spec"]["hostname"]]
        for pod in pods:
            await world.seed(ready(pod))
        world.cluster.forget_requests()
        world.cluster.seed({**pods[0], "status": {}})
        await asyncio.sleep(seconds)
        world.cluster.seed(ready(pods[0]))
        await asyncio.sleep(5)
        assert world.writes()["apply podcliques"] == told


@in_virtual_time
async def test_a_set_at_rest_costs_no_request_and_no_look() -> None:
    async with operator_running() as world:
        await asyncio.sleep(60)  # it has said by then why it is pending: nobody schedules its pods
        world.cluster.forget_requests()
        world.results.clear()
        await asyncio.sleep(3600)
        assert (world.cluster.log, world.results) == ([], [])
