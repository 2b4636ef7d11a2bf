"""Two operators of which one leads: the other stands by warm, and takes over when the first ends, in whatever way."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from applier.testing.control_plane import ControlPlane
from applier.transport import connect

from .process import LEASE, Process, operator_process
from .world import LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

SET = pod_clique_set(clique("front", 2))
FRONT = ("chat-0-front-0", "chat-0-front-1")


def elections(namespace: str, duration: int) -> dict[str, Any]:
    times = {"leaseDuration": f"{duration}s", "renewDeadline": f"{duration * 2 // 3}s", "retryPeriod": "500ms"}
    return {"leaderElection": {"enabled": True, "resourceName": "leader", "resourceNamespace": namespace, **times}}


class Candidates:
    """A world without an operator of its own, and two processes that stand for election in it."""

    def __init__(self, world: LiveCluster, first: Process, second: Process) -> None:
        self.world, self.both = world, (first, second)

    async def leader(self) -> tuple[Process, Process]:
        """The process that leads, and the other."""
        await self.world.until(self._is_decided, True)
        first, second = self.both
        return (first, second) if first.leads else (second, first)

    async def _is_decided(self) -> bool:
        return any(one.leads for one in self.both)

    async def holder(self) -> str:
        return str((await self.world.get("lease", "leader"))["spec"].get("holderIdentity", ""))

    async def lose_a_pod(self) -> None:
        """One pod goes: whoever leads makes another one."""
        victim = (await self.world.objects("pods"))[0]["metadata"]
        await self.world.kubectl("delete", "pod", victim["name"], "--wait=false")

        async def is_gone() -> bool:
            return victim["uid"] not in {one["metadata"]["uid"] for one in await self.world.objects("pods")}

        await self.world.until(is_gone, True)


@pytest.fixture
async def candidates(
    request: pytest.FixtureRequest, grove_plane: ControlPlane, namespace: str, tmp_path: Path
) -> AsyncIterator[Candidates]:
    """Both run, the set is ready. The parameter is for how many seconds the lease lasts."""
    config = elections(namespace, request.param)
    async with (
        connect(kubeconfig=str(grove_plane.kubeconfig), user_agent="grove-operator-tests") as cluster,
        operator_process(grove_plane, namespace, tmp_path / "first", config) as first,
        operator_process(grove_plane, namespace, tmp_path / "second", config) as second,
    ):
        there = Candidates(LiveCluster(grove_plane, cluster, namespace), first, second)
        await there.world.apply(SET)
        await there.world.until_ready(*FRONT)
        yield there


BRIEF, LONG = 12, 3600
"""Seconds. What is taken over before a long lease is over, which is longer than any patience, was given up by who had it."""


@pytest.mark.parametrize("candidates", [LONG], indirect=True)
async def test_one_leads_and_one_that_is_asked_to_end_hands_over_at_once(candidates: Candidates) -> None:
    leader, other = await candidates.leader()
    await candidates.world.until(lambda: watches_pods(other), True)
    assert len(other.writes) == 0, "who stands by writes nothing"
    before = other.proxy.requests.by("verb", "resource")["list pods"], other.proxy.requests.by("verb", "resource")["watch pods"]
    leader.send(signal.SIGTERM)
    assert await leader.ended() == 0
    await candidates.lose_a_pod()
    await candidates.world.until_ready(*FRONT)
    await candidates.world.until(lambda: acts_as_leader(other), True)
    after = other.proxy.requests.by("verb", "resource")["list pods"], other.proxy.requests.by("verb", "resource")["watch pods"]
    assert after == before, "its cache was warm: nothing was read anew"


async def watches_pods(process: Process) -> bool:
    return process.proxy.requests.by("verb", "resource")["watch pods"] > 0


@pytest.mark.parametrize("candidates", [BRIEF], indirect=True)
async def test_after_one_that_was_killed_the_other_leads_once_the_lease_is_over(candidates: Candidates) -> None:
    leader, other = await candidates.leader()
    leader.send(signal.SIGKILL)
    await leader.ended()
    await candidates.lose_a_pod()
    await candidates.world.until_ready(*FRONT)
    await candidates.world.until(lambda: acts_as_leader(other), True)


async def acts_as_leader(process: Process) -> bool:
    """Whether it leads by its own account, and has written."""
    return process.leads and len(process.writes) > 0


@pytest.mark.parametrize("candidates", [BRIEF], indirect=True)
async def test_one_that_was_paused_while_another_took_over_writes_nothing_any_more(candidates: Candidates) -> None:
    leader, _ = await candidates.leader()
    first = await candidates.holder()
    await rests(leader)
    leader.send(signal.SIGSTOP)
    try:
        await candidates.world.until(lambda: another_holds(candidates, first), True)
        await candidates.lose_a_pod()
        await candidates.world.until_ready(*FRONT)
        written, taken = len(leader.writes), len(leader.proxy.requests.writes.only(resource=LEASE))
    finally:
        leader.send(signal.SIGCONT)
    await candidates.lose_a_pod()  # what both of them hear of
    await candidates.world.until_ready(*FRONT)
    await asyncio.sleep(2.0)  # long enough for the one that woke up to hear of it, too, and to look at its lease some times
    assert len(leader.writes) == written, "the one that was paused has written"
    refused = list(leader.proxy.requests.writes.only(resource=LEASE))[taken:]
    # Without an answer is what it has given up itself: the time for it was over when it woke up.
    assert {one.code for one in refused} <= {409, 0}, "it may try to renew its lease, and is refused"
    assert await candidates.holder() != first


async def rests(process: Process) -> None:
    """Returns once a process has written nothing for a second.

    No lease keeps one from writing that is stopped right between its look at the clock and the write that follows.
    """
    written, since = -1, time.monotonic()
    while time.monotonic() - since < 1.0:
        if written != len(process.writes):
            written, since = len(process.writes), time.monotonic()
        await asyncio.sleep(0.05)


async def another_holds(candidates: Candidates, first: str) -> bool:
    return await candidates.holder() not in ("", first)
