"""Cleanups, which nobody waits for, take turns one at a time in each group, behind its other keys."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from applier.cache import WatchCache
from applier.desired import Gone, Graph, Hold
from applier.loop import Loop, View
from applier.loop.queue import MAX_CLEANUP_DELAY, WorkQueue
from applier.outcome import Action, Outcome, Step
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time

from .lab import CONFIG_MAP, ref


@in_virtual_time
async def test_a_cleanup_waits_until_no_other_key_waits() -> None:
    queue = WorkQueue[str]()
    queue.add_cleanup("gone")
    queue.add("a")
    queue.add("b")
    assert [await queue.get(), await queue.get(), await queue.get()] == ["a", "b", "gone"]


@in_virtual_time
async def test_one_cleanup_is_worked_on_at_a_time() -> None:
    queue = WorkQueue[str]()
    queue.add_cleanup("first")
    queue.add_cleanup("second")
    assert await queue.get() == "first"
    waiting = asyncio.ensure_future(queue.get())
    await asyncio.sleep(1)
    assert not waiting.done()
    queue.done("first")
    assert await waiting == "second"


@in_virtual_time
async def test_a_cleanup_that_has_waited_for_long_goes_before_keys_that_wait_for_their_share() -> None:
    queue = WorkQueue[str](group=lambda key: key[0], share=1)
    queue.add("a1")
    queue.add("a2")
    await queue.get()  # hangs, and a2 waits for its share
    queue.add_cleanup("a3")
    began = asyncio.get_running_loop().time()
    assert await queue.get() == "a3"
    assert asyncio.get_running_loop().time() - began == pytest.approx(MAX_CLEANUP_DELAY)


@in_virtual_time
async def test_one_turn_serves_a_cleanup_and_what_else_the_key_waits_for() -> None:
    queue = WorkQueue[str]()
    queue.add_cleanup("gone")
    await asyncio.sleep(MAX_CLEANUP_DELAY)
    queue.add("gone")
    assert await queue.get() == "gone"
    queue.done("gone")
    assert queue.depth() == 0


@in_virtual_time
async def test_a_key_in_work_has_its_cleanup_afterwards() -> None:
    queue = WorkQueue[str]()
    queue.add("gone")
    await queue.get()
    queue.add_cleanup("gone")
    waiting = asyncio.ensure_future(queue.get())
    await asyncio.sleep(1)
    assert not waiting.done()
    queue.done("gone")
    assert await waiting == "gone"
    assert not queue.awaits_cleanup("gone")


@in_virtual_time
async def test_a_cleanup_that_hangs_delays_those_of_no_other_group() -> None:
    queue = WorkQueue[str](group=lambda key: key[0])
    for key in ("a1", "a2", "b1"):
        queue.add_cleanup(key)
    assert [await queue.get(), await queue.get()] == ["a1", "b1"]


@in_virtual_time
async def test_another_turn_of_a_key_that_is_gone_leaves_its_deletions_to_the_cleanup() -> None:
    turns = list[str]()

    async def delete_one(key: str, desired: Graph | Gone | Hold, view: View) -> Sequence[Outcome]:
        turns.append(key)
        if turns.count("first") > 1:
            await asyncio.sleep(60)  # the cleanup of "first" hangs, so that "second" waits for its own
        return [Outcome(Step(ref(key), Action.PRUNED, ""), Action.PRUNED)] if turns.count(key) == 1 else []

    loop = Loop[str](WatchCache(MemoryCluster(), [(CONFIG_MAP, "")]), lambda *_: Gone(), delete_one)
    running = asyncio.ensure_future(loop.run())
    loop.enqueue("first")
    loop.enqueue("second")
    await asyncio.sleep(1)
    loop.enqueue("second")
    await asyncio.sleep(1)
    assert turns == ["first", "second", "first"]
    await asyncio.sleep(60)
    assert turns == ["first", "second", "first", "second"]
    loop.stop()
    await running
