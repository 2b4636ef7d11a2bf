"""No set waits for another's trouble."""

from __future__ import annotations

import asyncio

import pytest

from applier.errors import Forbidden
from applier.ref import Kind
from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import in_virtual_time
from tests.model.sets import clique, group, pcs

from .whole import WholeOperator, operator_running

POD = Kind("", "v1", "Pod")
CLIQUE = Kind("grove.io", "v1alpha1", "PodClique")


def pods_of(world: WholeOperator, name: str) -> int:
    return sum(one["metadata"]["name"].startswith(f"{name}-") for one in world.of(POD))


def is_bad(request: MemoryRequest) -> bool:
    return request.verb == "create" and request.resource.plural == "pods" and request.name.startswith("bad-")


async def never_answers(request: MemoryRequest) -> None:
    """Stands for a webhook of one set's pods that does not answer: the server waits for it until its time is up."""
    if is_bad(request):
        await asyncio.sleep(10.0)
        raise Forbidden(403, "Forbidden", "failed calling webhook: context deadline exceeded")


@in_virtual_time
async def test_a_set_whose_webhook_does_not_answer_delays_no_other() -> None:
    async with operator_running() as world:
        world.cluster.before = never_answers
        await world.declare(60, 1, "bad")  # seconds later all that may be in work of it is in work
        began = asyncio.get_running_loop().time()
        await world.declare(20, 1, "good", quiet=0.5)
        assert (pods_of(world, "good"), pods_of(world, "bad")) == (40, 0)
        assert asyncio.get_running_loop().time() - began < 1.0


@in_virtual_time
async def test_a_set_whose_statuses_are_slow_to_write_delays_no_other() -> None:
    """Each of its replicas has five gangs, so that a few of them have more statuses than are written at a time."""

    async def slow(request: MemoryRequest) -> None:
        if request.subresource == "status" and request.name.startswith("bad-"):
            await asyncio.sleep(10.0)

    async with operator_running() as world:
        world.cluster.before = slow
        bad = pcs([clique("worker")], [group("group", ["worker"], 5)], replicas=60)
        bad["metadata"] |= {"name": "bad", "generation": 1}
        await world.seed(bad)
        await world.declare(20, 1, "good", quiet=1.0)
        assert sum("status" in one for one in world.of(CLIQUE) if one["metadata"]["name"].startswith("good-")) == 20


@in_virtual_time
@pytest.mark.parametrize("replicas", [1, 30])
async def test_a_set_whose_pods_are_refused_delays_no_other(replicas: int) -> None:
    async with operator_running() as world:
        world.cluster.fail(is_bad, Forbidden(403, "Forbidden", "no such class"), times=-1)
        await world.declare(replicas, 1, "bad")
        await world.declare(20, 1, "good", quiet=0.5)
        assert (pods_of(world, "good"), pods_of(world, "bad")) == (40, 0)


@in_virtual_time
async def test_a_set_of_more_replicas_than_there_can_be_is_held_and_delays_no_other() -> None:
    """Two billion of them pass the schema; where admission is off, or does not answer, they reach the operator."""
    async with operator_running() as world:
        await world.declare(2, 1, "bad")
        await world.declare(2**31 - 1, 2, "bad")
        await world.declare(20, 1, "good", quiet=0.5)
        assert (pods_of(world, "good"), pods_of(world, "bad")) == (40, 4)
        await world.declare(1, 3, "bad", quiet=0.5)
        assert pods_of(world, "bad") == 2
