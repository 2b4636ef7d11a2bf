"""What takes long is computed aside: the loop goes on, and what changes meanwhile counts as a change after it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from applier.desired import Desired, Gone, Graph, Hold
from applier.loop import View
from applier.loop.loop import PORTION
from applier.loop.reconcile import LARGE
from applier.plan import Plan
from applier.testing.virtual_time import in_virtual_time

from .lab import Lab, config_map, desired, lab, loops_running, ref, some

PATIENCE = 60.0


class Slow:
    """Computes what keys named `setlarge…` want, as soon as `may_end` is set; `meanwhile` is called once, before."""

    def __init__(self) -> None:
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()
        self.calls, self.seen = list[str](), list[Any]()
        self.meanwhile: Callable[[], object] = lambda: None
        self.desired: Callable[[View, str], Graph | Gone | Hold] = desired

    async def __call__(self, view: View, key: str) -> Graph | Gone | Hold:
        self.calls.append(key)
        first = self.desired(view, key)
        self.begun.set()
        await self.may_end.wait()
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        meanwhile()
        await asyncio.sleep(1)  # until the watch has told of it
        self.seen.append((view.get(ref(key)) or {}).get("data"))
        return first


def is_large(_: View, key: str) -> bool:
    return key.startswith("setlarge")


def with_large_keys(aside: Callable[[View, str], Awaitable[Graph | Gone | Hold]]) -> Lab:
    world = lab(is_large=is_large)
    world.desired = lambda view, key: aside(view, key) if is_large(view, key) else desired(view, key)
    return world


def large(count: int, value: str = "1") -> dict[str, Any]:
    return some("setlarge", count, value)


@in_virtual_time
async def test_other_keys_are_reconciled_while_a_large_one_is_computed() -> None:
    slow = Slow()
    world = with_large_keys(slow)
    world.cluster.seed(large(1), some("set", 1))
    async with loops_running(world):
        await slow.begun.wait()
        assert world.made() == ["set-0"]
        world.cluster.seed(some("set", 2))
        await asyncio.sleep(1)
        assert (world.made(), slow.calls) == (["set-0", "set-1"], ["setlarge"])
        slow.may_end.set()
        await asyncio.sleep(2)
        assert world.made() == ["set-0", "set-1", "setlarge-0"]


@in_virtual_time
async def test_it_sees_the_state_of_its_beginning_and_is_computed_again_for_what_has_changed() -> None:
    slow = Slow()
    world = with_large_keys(slow)
    world.cluster.seed(large(1))
    slow.meanwhile = lambda: world.cluster.seed(large(2))
    slow.may_end.set()
    async with loops_running(world):
        await asyncio.sleep(5)
        assert [one["count"] for one in slow.seen][:2] == ["1", "2"]
        assert world.made() == ["setlarge-0", "setlarge-1"]


@in_virtual_time
async def test_a_change_of_what_it_has_not_read_is_none() -> None:
    slow = Slow()
    world = with_large_keys(slow)
    world.cluster.seed(large(0))
    slow.meanwhile = lambda: world.cluster.seed(config_map("other", {}))
    slow.may_end.set()
    async with loops_running(world):
        await asyncio.sleep(5)
        assert slow.calls == ["setlarge"]


OWNED = {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "somebody"}]}


@pytest.mark.parametrize("metadata", [{"labels": {"l": "x"}}, OWNED], ids=["label", "owner"])
def test_a_change_of_what_is_read_by_label_or_owner_counts_too(metadata: dict[str, Any]) -> None:
    def selecting(view: View, _: str) -> Graph:
        view.by_label("", "ConfigMap", "l=x")
        view.by_owner("somebody", [("", "ConfigMap")])
        return Graph([])

    @in_virtual_time
    async def calls() -> list[str]:
        slow = Slow()
        world = with_large_keys(slow)
        slow.desired, slow.meanwhile = selecting, lambda: world.cluster.seed(config_map("other", {}, **metadata))
        slow.may_end.set()
        world.cluster.seed(large(0))
        async with loops_running(world):
            await asyncio.sleep(5)
        return slow.calls

    assert calls() == ["setlarge", "setlarge"]


def kept(view: View, key: str) -> Graph:
    """One object as long as it exists."""
    return Graph([Desired(config_map(f"{key}-0", {"value": "1"}))] if view.get(ref(f"{key}-0")) else [])


@in_virtual_time
async def test_what_was_deleted_meanwhile_is_not_created_from_a_state_that_is_over() -> None:
    slow = Slow()
    world = with_large_keys(slow)
    world.cluster.seed(large(1), config_map("setlarge-0", {"value": "1"}))
    slow.desired, slow.meanwhile = kept, lambda: world.cluster.store.remove(ref("setlarge-0"))
    slow.may_end.set()
    async with loops_running(world):
        await asyncio.sleep(5)
        assert (world.made(), world.cluster.writes(), world.errors, slow.calls) == ([], [], [], ["setlarge"] * 2)


@pytest.mark.parametrize("count", [LARGE - 1, LARGE])
def test_a_large_graph_is_compared_aside_with_one_state(count: int) -> None:
    @in_virtual_time
    async def play() -> tuple[bool, list[str]]:
        world, planned = lab(), list[Plan]()

        async def aside(planning: Callable[[], Plan]) -> Plan:
            if not planned:
                world.cluster.store.remove(ref("set-0"))
            await asyncio.sleep(1)  # until the watch has told of it
            planned.append(planning())
            return planned[-1]

        world.cluster.seed(some("set", count))
        async with loops_running(world):
            await asyncio.sleep(30)
            world.reconciler._aside = aside
            world.loop.enqueue("set")
            await asyncio.sleep(30)
            changed = [step.ref.name for plan in planned[:1] for step in plan.changed()]
            assert len(world.made()) == count
            return bool(planned), changed

    assert play() == (count == LARGE, [])


@in_virtual_time
async def test_a_large_graph_is_freed_in_portions_between_which_others_run() -> None:
    world, graphs = lab(), list[Graph]()

    def noted(view: View, key: str) -> Graph | Gone | Hold:
        found = desired(view, key)
        if isinstance(found, Graph):
            graphs.append(found)
        return found

    world.desired = noted
    async with loops_running(world):
        left = set[int]()
        world.cluster.seed(some("set", 3 * PORTION + 1))
        while not graphs or graphs[0].objects:
            left |= {len(one.objects) for one in graphs[:1]}
            await asyncio.sleep(0)
    assert sorted(left) == [1, PORTION + 1, 2 * PORTION + 1, 3 * PORTION + 1]
    assert len(world.made()) == 3 * PORTION + 1


@in_virtual_time
async def test_an_error_is_one_of_its_key_alone() -> None:
    slow = Slow()
    world = with_large_keys(slow)
    world.cluster.seed(large(1), some("set", 1))

    def fail(view: View, key: str) -> Graph | Gone | Hold:
        view.get(ref(key))
        raise ValueError("no")

    slow.desired = fail
    async with loops_running(world):
        await asyncio.sleep(1)
        assert (world.told("setlarge"), world.made()) == ("ValueError: no", ["set-0"])


@in_virtual_time
async def test_a_key_is_never_computed_twice_at_a_time() -> None:
    slow = Slow()
    world = with_large_keys(slow)
    world.cluster.seed(large(1))
    async with loops_running(world):
        await slow.begun.wait()
        for count in (2, 3):
            world.cluster.seed(large(count))
            await asyncio.sleep(1)
        assert slow.calls == ["setlarge"]
        slow.may_end.set()
        await asyncio.sleep(5)
        assert world.made() == ["setlarge-0", "setlarge-1", "setlarge-2"]


async def test_a_thread_may_compute_it() -> None:
    begun, gate = threading.Event(), threading.Event()

    async def aside(view: View, key: str) -> Graph | Gone | Hold:
        def compute() -> Graph:
            begun.set()
            assert gate.wait(PATIENCE)
            count = int((view.get(ref(key)) or {})["data"]["count"])
            return Graph([Desired(config_map(f"{key}-{number}", {})) for number in range(count)])

        return await asyncio.to_thread(compute)

    world = with_large_keys(aside)
    world.cluster.seed(large(1), some("set", 1))
    async with loops_running(world), asyncio.timeout(PATIENCE):
        while not begun.is_set() or world.made() != ["set-0"]:
            await asyncio.sleep(0.001)
        gate.set()
        while world.made() != ["set-0", "setlarge-0"]:
            await asyncio.sleep(0.001)
