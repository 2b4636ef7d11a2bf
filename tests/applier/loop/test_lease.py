"""One of several candidates leads, others follow when it is gone, and nobody writes on a lease that may be somebody else's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from applier.errors import Unreachable
from applier.loop.lease import LEASE, Fence, FencedCluster, Lease, LeaseLost, Timing
from applier.ref import Manifest, Ref
from applier.testing.memory import MemoryCluster
from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import in_virtual_time

NAMED = Ref("coordination.k8s.io", "Lease", "default", "main")
CONFIG_MAP: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}


def candidate(cluster: MemoryCluster, name: str) -> Lease:
    return Lease(cluster, "default", "main", name, chance=Random(name))


@asynccontextmanager
async def standing(*candidates: Lease) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Lets candidates run."""
    tasks = [asyncio.ensure_future(one.run()) for one in candidates]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def now() -> float:
    return asyncio.get_running_loop().time()


def spec(cluster: MemoryCluster) -> Manifest:
    found = cluster.find(NAMED)
    assert found is not None
    return dict(found["spec"])


@in_virtual_time
async def test_a_lone_candidate_leads_at_once() -> None:
    cluster = MemoryCluster()
    lease = candidate(cluster, "a")
    async with standing(lease):
        await lease.held.wait()
        assert (now(), lease.fence.is_open, spec(cluster)["holderIdentity"]) == (0.0, True, "a")


@in_virtual_time
async def test_of_two_candidates_one_leads() -> None:
    cluster = MemoryCluster()
    both = [candidate(cluster, "a"), candidate(cluster, "b")]
    async with standing(*both):
        await asyncio.sleep(300)
        assert [one.held.is_set() for one in both].count(True) == 1


@in_virtual_time
async def test_a_leader_renews_with_one_request_each_time() -> None:
    cluster = MemoryCluster()
    async with standing(candidate(cluster, "a")):
        await asyncio.sleep(1)
        cluster.forget_requests()
        await asyncio.sleep(20)
        assert cluster.requests == {("patch", "leases"): 10}


@in_virtual_time
async def test_when_the_leader_is_gone_another_waits_for_a_whole_lease() -> None:
    cluster = MemoryCluster()
    first, second = candidate(cluster, "a"), candidate(cluster, "b")
    async with standing(first) as tasks:
        await asyncio.sleep(100)
        tasks[0].cancel()
        began = now()
        async with standing(second):
            await second.held.wait()
            assert 15.0 <= now() - began <= 20.0
            assert spec(cluster)["leaseTransitions"] == 1


@in_virtual_time
async def test_a_leader_that_gives_up_the_lease_lets_others_lead_soon() -> None:
    cluster = MemoryCluster()
    first, second = candidate(cluster, "a"), candidate(cluster, "b")
    async with standing(first) as tasks:
        await asyncio.sleep(1)
        async with standing(second):
            await asyncio.sleep(10)
            tasks[0].cancel()
            await first.release()
            began = now()
            await second.held.wait()
            assert now() - began < 6.0


@in_virtual_time
async def test_a_leader_that_cannot_renew_stops_before_another_can_lead() -> None:
    cluster = MemoryCluster()
    first, second = candidate(cluster, "a"), candidate(cluster, "b")
    async with standing(first):
        await first.held.wait()
        cluster.fail(lambda request: request.manager == "a" or request.verb == "get", Unreachable("cut off"), times=-1)
        await asyncio.sleep(1)
        cluster.faults[0].when = lambda request: request.manager == "a"
        async with standing(second):
            while not second.held.is_set():
                await asyncio.sleep(0.1)
                assert not (first.fence.is_open and second.fence.is_open)
        assert not first.held.is_set()


@in_virtual_time
async def test_a_renewal_that_hangs_does_not_keep_the_fence_open() -> None:
    cluster = MemoryCluster()
    lease = candidate(cluster, "a")
    async with standing(lease):
        await asyncio.sleep(1)

        async def hang(_: MemoryRequest) -> None:
            await asyncio.sleep(1000)

        cluster.before = hang
        await asyncio.sleep(12)
        assert not (lease.fence.is_open or lease.held.is_set())


@in_virtual_time
async def test_a_slow_renewal_counts_from_when_it_was_asked_for() -> None:
    cluster = MemoryCluster()
    lease = candidate(cluster, "a")

    async def slow(_: MemoryRequest) -> None:
        await asyncio.sleep(3)

    cluster.before = slow
    async with standing(lease):
        await lease.held.wait()
        assert lease.fence.closes == 10.0


@in_virtual_time
async def test_clocks_on_the_wall_do_not_matter() -> None:
    cluster = MemoryCluster()
    cluster.seed(
        {
            "apiVersion": LEASE.api_version,
            "kind": "Lease",
            "metadata": {"name": "main", "namespace": "default"},
            "spec": {"holderIdentity": "old", "leaseDurationSeconds": 15, "renewTime": "1999-01-01T00:00:00.000000Z"},
        }
    )
    lease = candidate(cluster, "a")
    async with standing(lease):
        await asyncio.sleep(14)
        assert not lease.held.is_set()
        await lease.held.wait()
        assert now() < 20


@in_virtual_time
async def test_a_leader_that_was_overtaken_notices_with_its_next_renewal() -> None:
    cluster = MemoryCluster()
    lease = candidate(cluster, "a")
    async with standing(lease):
        await asyncio.sleep(1)
        cluster.seed({**(cluster.find(NAMED) or {}), "spec": {"holderIdentity": "b", "leaseDurationSeconds": 15}})
        await asyncio.sleep(6)
        assert not (lease.held.is_set() or lease.fence.is_open)


@in_virtual_time
async def test_a_lease_that_was_deleted_is_made_again() -> None:
    cluster = MemoryCluster()
    lease = candidate(cluster, "a")
    async with standing(lease):
        await asyncio.sleep(1)
        cluster.store.remove(NAMED)
        await asyncio.sleep(6)
        assert lease.held.is_set() and cluster.find(NAMED)


@in_virtual_time
async def test_an_answer_that_got_lost_does_no_harm() -> None:
    cluster = MemoryCluster()
    lease = candidate(cluster, "a")
    cluster.fail("create", Unreachable("reset", maybe_done=True), after=True)
    cluster.fail("patch", Unreachable("reset", maybe_done=True), after=True)
    async with standing(lease):
        await asyncio.sleep(30)
        assert lease.held.is_set()
        assert spec(cluster)["leaseTransitions"] == 0


@pytest.mark.parametrize("timing", [Timing(10, 10, 2), Timing(15, 2, 2)])
def test_times_that_make_no_sense_are_refused(timing: Timing) -> None:
    with pytest.raises(ValueError, match="must satisfy"):
        Lease(MemoryCluster(), "default", "main", "a", timing=timing)


@in_virtual_time
async def test_nothing_is_written_without_a_lease() -> None:
    cluster = MemoryCluster()
    fenced = FencedCluster(cluster, candidate(cluster, "a").fence)
    with pytest.raises(LeaseLost):
        await fenced.apply(cluster.kinds.get(LEASE._replace(group="", kind="ConfigMap")), CONFIG_MAP, manager="us")
    assert not cluster.writes()


@in_virtual_time
async def test_reading_needs_no_lease() -> None:
    cluster = MemoryCluster()
    fenced = FencedCluster(cluster, candidate(cluster, "a").fence)
    assert (await fenced.list(await fenced.resource(LEASE))).items == []


@pytest.mark.parametrize("renewed", [True, False])
def test_a_write_is_given_up_when_the_lease_may_be_over_but_not_while_it_is_renewed(renewed: bool) -> None:
    @in_virtual_time
    async def write() -> float:
        cluster = MemoryCluster()
        lease = candidate(cluster, "a")
        fenced = FencedCluster(cluster, lease.fence)

        async def slow(request: MemoryRequest) -> None:
            await asyncio.sleep(60 if request.verb == "apply" or not renewed else 0)

        async with standing(lease):
            await lease.held.wait()
            cluster.before = slow
            resource = cluster.kinds.get(LEASE._replace(group="", kind="ConfigMap"))
            try:
                await fenced.apply(resource, CONFIG_MAP, manager="us")
            except LeaseLost as lost:
                assert lost.maybe_done
            return now()

    assert write() == (60.0 if renewed else 12.5)


@in_virtual_time
async def test_a_lease_may_be_renewed_while_a_write_that_took_too_long_is_still_being_given_up() -> None:
    """The renewal failed, and with it the whole operator."""
    fence, aborting, aborted = Fence(), asyncio.Event(), asyncio.Event()
    fence.renew(1.0, 1.0)

    async def write() -> None:
        async with fence.writing():
            try:
                await asyncio.sleep(60)
            finally:
                aborting.set()
                await aborted.wait()

    writing = asyncio.ensure_future(write())
    await aborting.wait()
    fence.renew(10.0, 12.0)
    aborted.set()
    with pytest.raises(LeaseLost):
        await writing
    assert fence.is_open


@in_virtual_time
async def test_two_leaders_never_write_at_the_same_time_however_often_they_are_cut_off() -> None:
    cluster = MemoryCluster()
    chance = Random(7)
    candidates = [candidate(cluster, name) for name in "abc"]
    cut: set[str] = set()

    async def network(request: MemoryRequest) -> None:
        await asyncio.sleep(chance.uniform(0, 4))
        if request.manager in cut:
            raise Unreachable("cut off")

    cluster.before = network
    led: set[str] = set()
    async with standing(*candidates):
        for _ in range(4000):
            await asyncio.sleep(0.25)
            if chance.random() < 0.02:
                cut ^= {chance.choice("abc")}
            leaders = [one.identity for one in candidates if one.fence.is_open]
            assert len(leaders) <= 1
            led.update(leaders)
    assert len(led) > 1
