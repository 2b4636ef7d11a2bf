"""Waiting for other cliques, past everything that can happen to watches."""

from __future__ import annotations

import asyncio

import pytest

from applier.errors import Forbidden, Unauthorized, Unreachable
from applier.testing.memory import MemoryCluster
from grove_operator.initc import wait as module
from grove_operator.initc.wait import Parents, wait_for

from .pods import GANG, pod


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster(namespaces=("ml",))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_WAIT", 0.001)


class Waiting:
    """A wait that goes on in the background, and what it has said."""

    def __init__(self, cluster: MemoryCluster, needed: dict[str, int]) -> None:
        self.said: list[str] = []
        self.task = asyncio.ensure_future(wait_for(Parents(needed), cluster, "ml", GANG, self.said.append))

    async def settle(self) -> None:
        for _ in range(100):
            await asyncio.sleep(0)


async def test_what_is_there_already_is_not_waited_for(cluster: MemoryCluster) -> None:
    cluster.seed(pod("r-1", "router"))
    waiting = Waiting(cluster, {"router": 1})
    await asyncio.wait_for(waiting.task, 5)
    assert waiting.said == []


async def test_it_goes_on_as_soon_as_the_last_pod_is_ready(cluster: MemoryCluster) -> None:
    waiting = Waiting(cluster, {"router": 2})
    await waiting.settle()
    cluster.seed(pod("r-1", "router"))
    cluster.seed(pod("r-2", "router", ready=False))
    await waiting.settle()
    assert not waiting.task.done()
    cluster.seed(pod("r-2", "router"))
    await asyncio.wait_for(waiting.task, 5)
    assert waiting.said == ["waiting for router (0 of 2 ready)", "waiting for router (1 of 2 ready)"]


async def test_pods_of_another_gang_do_not_count(cluster: MemoryCluster) -> None:
    cluster.seed(pod("r-1", "router", gang="demo-1"))
    waiting = Waiting(cluster, {"router": 1})
    await waiting.settle()
    assert not waiting.task.done()
    waiting.task.cancel()


@pytest.mark.parametrize("error", [Forbidden(403, "Forbidden", "no"), Unauthorized(401, "Unauthorized", "no"), Unreachable("reset")])
@pytest.mark.parametrize("verb", ["list", "watch"])
async def test_a_refusal_or_an_outage_is_said_and_tried_again(cluster: MemoryCluster, verb: str, error: Exception) -> None:
    cluster.fail(verb, error, times=2)
    waiting = Waiting(cluster, {"router": 1})
    while cluster.faults[0].left:
        await asyncio.sleep(0)
    cluster.seed(pod("r-1", "router"))
    await asyncio.wait_for(waiting.task, 20)
    refused = [line for line in waiting.said if "retrying" in line]
    assert len(refused) == (0 if isinstance(error, Unreachable) else 2)


async def test_only_the_pods_of_the_gang_are_asked_for(cluster: MemoryCluster) -> None:
    cluster.seed(pod("r-1", "router"))
    await asyncio.wait_for(Waiting(cluster, {"router": 1}).task, 5)
    assert set(cluster.requests) <= {("list", "pods"), ("watch", "pods")}
