"""Waiting for other cliques, past everything that can happen to watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from applier.backoff import Backoff
from applier.errors import CredentialsError, Forbidden, Unauthorized, Unreachable
from applier.testing.memory import MemoryCluster
from grove_compiler.api.crd import crds
from grove_operator.initc import wait as module
from grove_operator.initc.wait import Parents, connected, wait_for

from .pods import GANG, pod, recorded


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
    await asyncio.wait_for(waiting.task, 60)
    assert waiting.said == []


async def test_it_goes_on_as_soon_as_the_last_pod_is_ready(cluster: MemoryCluster) -> None:
    waiting = Waiting(cluster, {"router": 2})
    await waiting.settle()
    cluster.seed(pod("r-1", "router"))
    cluster.seed(pod("r-2", "router", ready=False))
    await waiting.settle()
    assert not waiting.task.done()
    cluster.seed(pod("r-2", "router"))
    await asyncio.wait_for(waiting.task, 60)
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
    await asyncio.wait_for(waiting.task, 60)
    assert [line for line in waiting.said if "retrying" in line] == [f"cannot read the pods of ml/{GANG}; retrying: {error}"] * 2


async def test_after_an_outage_it_says_again_what_it_waits_for(cluster: MemoryCluster) -> None:
    waiting = Waiting(cluster, {"router": 2})
    await waiting.settle()
    cluster.end_watches(Unreachable("reset"))
    cluster.seed(pod("r-1", "router", ready=False))
    while len(waiting.said) < 3:
        await asyncio.sleep(0.001)
    outage = f"cannot read the pods of ml/{GANG}; retrying: reset"
    assert waiting.said == ["waiting for router (0 of 2 ready)", outage, "waiting for router (0 of 2 ready)"]
    waiting.task.cancel()


async def test_a_watch_that_is_refused_is_asked_for_less_and_less_often(cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[int] = []

    def counted(backoff: Backoff) -> float:
        pauses.append(backoff.failures)
        backoff.failures += 1
        return 0.001

    monkeypatch.setattr(Backoff, "next", counted)
    cluster.fail("watch", Forbidden(403, "Forbidden", "no"), times=-1)
    waiting = Waiting(cluster, {"router": 1})
    while len(pauses) < 4:
        await asyncio.sleep(0.001)
    assert pauses[:4] == [0, 1, 2, 3]
    waiting.task.cancel()


async def test_a_token_that_is_not_there_yet_is_awaited(cluster: MemoryCluster) -> None:
    answers: list[Any] = [CredentialsError("no token"), CredentialsError("no token"), cluster]
    said: list[str] = []

    @asynccontextmanager
    async def connect() -> AsyncIterator[Any]:
        if isinstance(answer := answers.pop(0), Exception):
            raise answer
        yield answer

    cluster.seed(pod("r-1", "router"))
    await asyncio.wait_for(connected(connect, lambda it: wait_for(Parents({"router": 1}), it, "ml", GANG, said.append), said.append), 60)
    assert (said, answers) == (["cannot log in; retrying: no token"] * 2, [])


async def test_only_the_pods_of_the_gang_are_asked_for(cluster: MemoryCluster) -> None:
    cluster.seed(pod("r-1", "router"))
    await asyncio.wait_for(Waiting(cluster, {"router": 1}).task, 60)
    assert set(cluster.requests) <= {("list", "pods"), ("watch", "pods")}


async def test_a_rank_whose_pod_was_gone_before_anybody_looked_is_not_waited_for(cluster: MemoryCluster) -> None:
    cluster.seed(*crds())
    cluster.seed(pod("w-1", "worker", ready=False, attempt="1"))
    waiting = Waiting(cluster, {"leader": 1})
    await waiting.settle()
    assert not waiting.task.done()
    cluster.seed(recorded("leader", "0", replicas=1))
    await asyncio.wait_for(waiting.task, 60)
    assert waiting.said == ["waiting for leader (0 of 1 ready)"]


async def test_pods_count_where_podcliques_cannot_be_read(cluster: MemoryCluster) -> None:
    """As where an operator of an earlier release has made the Role."""
    cluster.fail(lambda request: request.resource.plural == "podcliques", Forbidden(403, "Forbidden", "no"), times=-1)
    cluster.seed(pod("w-1", "worker", ready=False, attempt="1"))
    waiting = Waiting(cluster, {"leader": 1})
    await waiting.settle()
    cluster.seed(pod("l-1", "leader", attempt="1"))
    await asyncio.wait_for(waiting.task, 60)
    assert waiting.said == ["waiting for leader (0 of 1 ready)"]
