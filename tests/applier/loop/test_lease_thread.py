"""A lease is renewed in a thread of its own, whatever the event loop computes meanwhile, and its fence is shut for it in time."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from functools import partial, wraps

import pytest

from applier.errors import Unreachable
from applier.loop.lease import LEASE, FencedCluster, Lease, LeaseLost, Timing
from applier.loop.lease_thread import LeaseThread
from applier.ref import Manifest, Ref
from applier.testing.memory import MemoryCluster

NAMED = Ref("coordination.k8s.io", "Lease", "default", "main")
TIMING = Timing(duration=30.0, renew=20.0, retry=0.02)
"""Renewed often, and held for long: no test depends on how busy the machine is."""
PATIENCE = 60.0


def in_loop(test: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        async def limited() -> None:
            async with asyncio.timeout(2 * PATIENCE):
                await test()

        asyncio.run(limited())

    return run


def candidate(cluster: MemoryCluster, name: str = "a") -> LeaseThread:
    return LeaseThread(
        lambda: nullcontext(cluster), lambda api, on_change: Lease(api, "default", "main", name, timing=TIMING, on_change=on_change)
    )


@asynccontextmanager
async def leading(cluster: MemoryCluster) -> AsyncIterator[LeaseThread]:
    """A candidate that leads; its lease is released at the end."""
    lease = candidate(cluster)
    running = asyncio.ensure_future(lease.run())
    await lease.held.wait()
    try:
        yield lease
    finally:
        await lease.release()
        await running


def spec(cluster: MemoryCluster) -> Manifest:
    found = cluster.find(NAMED)
    assert found is not None
    return dict(found["spec"])


def block_until(reached: Callable[[], bool]) -> None:
    """Keeps the event loop from running, as a long computation does, until something has happened without it."""
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, "it does not happen while the event loop is blocked"
        time.sleep(0.005)


@in_loop
async def test_a_lease_is_renewed_while_the_event_loop_computes() -> None:
    cluster = MemoryCluster()
    async with leading(cluster) as lease:
        closes = lease.fence.closes
        for _ in range(3):
            block_until(partial(_is_renewed, cluster, spec(cluster)["renewTime"]))
        block_until(lambda: lease.fence.closes > closes)
        assert lease.fence.is_open


@in_loop
async def test_a_write_after_a_computation_sees_that_the_lease_was_lost_meanwhile() -> None:
    cluster = MemoryCluster()
    async with leading(cluster) as lease:
        await _overtake(cluster)
        block_until(lambda: lease.fence.closes < 0)
        with pytest.raises(LeaseLost):
            async with lease.fence.writing():
                pass


@in_loop
async def test_a_write_in_flight_is_aborted_when_the_lease_is_lost() -> None:
    cluster = MemoryCluster()
    async with leading(cluster) as lease:
        writing = asyncio.ensure_future(FencedCluster(cluster, lease.fence).write(asyncio.Event().wait))
        await asyncio.sleep(0)
        await _overtake(cluster)
        with pytest.raises(LeaseLost, match="another candidate"):
            await writing
        assert not lease.held.is_set()


@in_loop
async def test_a_released_lease_is_free_at_once_and_its_thread_has_ended() -> None:
    cluster = MemoryCluster()
    async with leading(cluster) as lease:
        pass
    assert (spec(cluster)["holderIdentity"], lease.held.is_set(), lease.fence.is_open) == ("", False, False)
    block_until(lambda: all(thread.name != "lease" for thread in threading.enumerate()))


@in_loop
async def test_a_candidate_that_never_ran_is_released_without_a_request() -> None:
    cluster = MemoryCluster()
    await candidate(cluster).release()
    assert cluster.find(NAMED) is None


@in_loop
async def test_what_ends_the_thread_ends_the_run() -> None:
    def refuse() -> nullcontext[MemoryCluster]:
        raise Unreachable("there is no such cluster")

    lease = LeaseThread(refuse, lambda api, on_change: Lease(api, "default", "main", "a", on_change=on_change))
    with pytest.raises(Unreachable, match="no such cluster"):
        await lease.run()
    await lease.release()  # as the loop does at its end; the thread's own has ended


def _is_renewed(cluster: MemoryCluster, before: str) -> bool:
    return bool(spec(cluster)["renewTime"] != before)


async def _overtake(cluster: MemoryCluster) -> None:
    """Another candidate takes the lease by force, as after a pause of the whole machine."""
    resource = await cluster.resource(LEASE)
    theirs = {"holderIdentity": "b", "leaseDurationSeconds": 30, "renewTime": "2030-01-01T00:00:00.000000Z"}
    await cluster.patch(resource, "default", "main", {"spec": theirs}, manager="b")
