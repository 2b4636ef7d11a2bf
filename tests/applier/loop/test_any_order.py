"""Whatever befalls server, stream and leader: once it is over, the cluster is as the function says, and nothing foreign was touched."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from applier.errors import ClusterError, ServerFailure, TooManyRequests, Unreachable, WriteConflict
from applier.testing.memory import MemoryCluster
from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import run_virtual
from tests.suite.effort import runs

from ..free_schemas import FreeSchemas
from .lab import Lab, config_map, loops_running, ref, some

ERRORS: list[ClusterError] = [
    Unreachable("reset", maybe_done=True),
    ServerFailure(500, "InternalError", "webhook failed"),
    TooManyRequests(429, "TooManyRequests", "slowly", retry_after=0.5),
    WriteConflict(409, "Conflict", "try again"),
]
STEPS = st.one_of(
    st.tuples(st.just("want"), st.sampled_from(["set", "set2"]), st.integers(0, 3), st.sampled_from("12")),
    st.tuples(st.just("drift"), st.sampled_from(["set-0", "set-1", "set2-0"])),
    st.tuples(st.just("vanish"), st.sampled_from(["set-0", "set-1", "set2-0"])),
    st.tuples(st.just("fault"), st.sampled_from(["apply", "delete", "watch", "get", "patch"]), st.sampled_from(ERRORS), st.booleans()),
    st.tuples(st.just("end_streams")),
    st.tuples(st.just("forget_history")),
    st.tuples(st.just("change_leader")),
    st.tuples(st.just("wait"), st.sampled_from([0.0, 0.01, 0.3, 5.0])),
)


class TwoReplicas:
    """Two replicas, a server with latency, and what happens to them."""

    def __init__(self, seed: int) -> None:
        chance = Random(seed)

        async def latency(_: MemoryRequest) -> None:
            await asyncio.sleep(chance.choice([0.0, 0.001, 0.05, 0.4]))

        self.cluster = MemoryCluster(schemas=FreeSchemas(), history=20, before=latency)
        self.cluster.seed(some("set", 1), some("set2", 1), config_map("foreign-0", {"mine": "1"}))
        self.labs = [Lab(self.cluster, lease=name) for name in "ab"]

    async def want(self, name: str, count: int, value: str) -> None:
        self.cluster.seed(some(name, count, value))

    async def drift(self, name: str) -> None:
        if found := self.cluster.find(ref(name)):
            self.cluster.seed({**found, "data": {"value": "drifted"}})

    async def vanish(self, name: str) -> None:
        if self.cluster.find(ref(name)):
            self.cluster.store.remove(ref(name))

    async def fault(self, verb: str, error: Exception, after: bool) -> None:
        self.cluster.fail(verb, error, after=after)

    async def end_streams(self) -> None:
        self.cluster.end_watches(Unreachable("reset"))

    async def forget_history(self) -> None:
        self.cluster.store.forget()
        self.cluster.end_watches()

    async def change_leader(self) -> None:
        for lab in self.labs:
            if lab.lease and lab.lease.held.is_set():
                await lab.lease.release()

    async def wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def is_right(self) -> bool:
        expected = {"foreign-0": {"mine": "1"}}
        for name in ("set", "set2"):
            data = self.cluster.store.objects[ref(name)]["data"]
            expected |= {f"{name}-{number}": {"value": data["value"]} for number in range(int(data["count"]))}
        return expected == {
            one.name: self.cluster.store.objects[one]["data"]
            for one in self.cluster.store.objects
            if "-" in one.name and one.kind == "ConfigMap"
        }


async def live_through(steps: list[tuple[Any, ...]], seed: int) -> None:
    world = TwoReplicas(seed)
    async with loops_running(*world.labs):
        for step, *arguments in steps:
            await getattr(world, step)(*arguments)
        world.cluster.faults.clear()
        await asyncio.sleep(120)
        assert world.is_right()
        written = [request for request in world.cluster.writes() if request.resource.plural != "leases"]
        await asyncio.sleep(60)
        after = [request for request in world.cluster.writes() if request.resource.plural != "leases"]
        assert written == after, "it is right and yet writes on"
    assert all(one.ref != ref("foreign-0") for one in world.cluster.writes())


@settings(max_examples=runs(40))
@given(st.lists(STEPS, max_size=15), st.integers(0, 1000))
def test_the_cluster_ends_as_the_function_says(steps: list[tuple[Any, ...]], seed: int) -> None:
    run_virtual(live_through(steps, seed))
