"""A queue gives each key once, to one worker at a time, in fair order, and failures ever later."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.loop.queue import QueueClosed, WorkQueue
from applier.testing.virtual_time import in_virtual_time, run_virtual


async def taken(queue: WorkQueue[Any], count: int) -> list[Any]:
    """The next keys, each done at once."""
    found = []
    for _ in range(count):
        found.append(await queue.get())
        queue.done(found[-1])
    return found


def now() -> float:
    return asyncio.get_running_loop().time()


@in_virtual_time
async def test_keys_come_in_the_order_in_which_they_were_added() -> None:
    queue = WorkQueue[str]()
    for key in "cab":
        queue.add(key)
    assert await taken(queue, 3) == ["c", "a", "b"]


@in_virtual_time
async def test_a_key_that_waits_is_not_added_twice() -> None:
    queue = WorkQueue[str]()
    for key in "aaba":
        queue.add(key)
    assert await taken(queue, 2) == ["a", "b"]
    assert queue.depth() == 0


@in_virtual_time
async def test_a_key_in_work_is_given_again_only_when_it_is_done() -> None:
    queue = WorkQueue[str]()
    queue.add("a")
    key = await queue.get()
    queue.add("a")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await queue.get()
    queue.done(key)
    assert await queue.get() == "a"


@in_virtual_time
async def test_a_key_goes_to_the_next_worker_where_the_one_that_was_woken_for_it_is_cancelled() -> None:
    queue = WorkQueue[str]()
    first, second = [asyncio.create_task(queue.get()) for _ in range(2)]
    await asyncio.sleep(0)
    queue.add("a")
    first.cancel()
    assert await second == "a"


@in_virtual_time
async def test_a_cleanup_whose_turn_comes_as_a_key_is_taken_begins_at_once() -> None:
    queue = WorkQueue[str](share=1)
    queue.add("a")
    key = await queue.get()
    workers = [asyncio.create_task(queue.get()) for _ in range(2)]
    await asyncio.sleep(0)
    queue.add("b")
    queue.add_cleanup("c")
    await asyncio.sleep(0.1)
    began = now()
    queue.done(key)
    assert [await worker for worker in workers] == ["b", "c"]
    assert now() == began


@in_virtual_time
async def test_whoever_waits_is_woken_by_a_key() -> None:
    queue = WorkQueue[str]()
    getting = asyncio.ensure_future(queue.get())
    await asyncio.sleep(1)
    queue.add("a")
    assert await getting == "a"


@in_virtual_time
async def test_groups_take_turns() -> None:
    queue = WorkQueue[str](group=lambda key: key[0])
    for key in ["a1", "a2", "a3", "b1", "c1", "b2"]:
        queue.add(key)
    assert await taken(queue, 6) == ["a1", "b1", "c1", "a2", "b2", "a3"]


@in_virtual_time
async def test_a_key_can_come_later() -> None:
    queue = WorkQueue[str]()
    queue.add_after("a", 5.0)
    await queue.get()
    assert now() == 5.0


@in_virtual_time
async def test_the_earliest_of_several_times_counts() -> None:
    queue = WorkQueue[str]()
    for seconds in (9.0, 3.0, 6.0):
        queue.add_after("a", seconds)
    await taken(queue, 1)
    assert now() == 3.0
    await asyncio.sleep(60)
    assert queue.depth() == 0


@in_virtual_time
async def test_a_key_that_comes_by_itself_does_not_come_later_too() -> None:
    queue = WorkQueue[str]()
    queue.add_after("a", 5.0)
    queue.add("a")
    await taken(queue, 1)
    await asyncio.sleep(60)
    assert (queue.depth(), queue.delayed()) == (0, 0)


@in_virtual_time
async def test_each_failure_doubles_the_wait() -> None:
    queue = WorkQueue[str](first=1.0, longest=6.0)
    assert [queue.retry("a") for _ in range(5)] == [1.0, 2.0, 4.0, 6.0, 6.0]


@in_virtual_time
async def test_success_forgets_failures() -> None:
    queue = WorkQueue[str](first=1.0)
    queue.retry("a")
    queue.forget("a")
    assert queue.retry("a") == 1.0


@in_virtual_time
async def test_failures_of_one_key_do_not_slow_down_another() -> None:
    queue = WorkQueue[str](first=1.0)
    queue.retry("a")
    assert queue.retry("b") == 1.0


@in_virtual_time
async def test_a_closed_queue_ends_those_who_wait() -> None:
    queue = WorkQueue[str]()
    getting = [asyncio.ensure_future(queue.get()) for _ in range(3)]
    await asyncio.sleep(0)
    queue.close()
    assert all(isinstance(one, QueueClosed) for one in await asyncio.gather(*getting, return_exceptions=True))


@in_virtual_time
async def test_a_closed_queue_drops_what_waits() -> None:
    queue = WorkQueue[str]()
    queue.add("a")
    queue.add_after("late", 1.0)
    queue.close()
    queue.add("b")
    with pytest.raises(QueueClosed):
        await queue.get()


@in_virtual_time
async def test_it_tells_how_deep_it_is_and_how_long_keys_wait() -> None:
    waited: list[float] = []
    worked: list[float] = []
    queue = WorkQueue[str](on_wait=waited.append, on_work=worked.append)
    queue.add("a")
    queue.add("b")
    await asyncio.sleep(3)
    assert (queue.depth(), queue.oldest(), queue.active()) == (2, 3.0, 0)
    key = await queue.get()
    await asyncio.sleep(2)
    assert (queue.depth(), queue.active()) == (1, 1)
    queue.done(key)
    assert (waited, worked) == ([3.0], [2.0])


@in_virtual_time
async def test_idle_waits_for_what_is_in_work() -> None:
    queue = WorkQueue[str]()
    queue.add("a")
    key = await queue.get()
    asyncio.get_running_loop().call_later(7, queue.done, key)
    await queue.idle()
    assert now() == 7.0


KEYS = st.sampled_from(["a1", "a2", "b1", "b2", "c1"])
STEPS = st.one_of(
    st.tuples(st.just("add"), KEYS),
    st.tuples(st.just("add_after"), KEYS, st.sampled_from([0.0, 0.3, 2.0])),
    st.tuples(st.just("wait"), st.sampled_from([0.0, 0.1, 1.0])),
)


async def live_through(steps: list[tuple[Any, ...]], workers: int, seconds: float) -> None:
    queue = WorkQueue[str](group=lambda key: key[0])
    active: set[str] = set()
    asked: dict[str, float] = {}
    begun: dict[str, float] = {}

    async def work() -> None:
        while True:
            key = await queue.get()
            assert key not in active, "two workers on one key"
            active.add(key)
            begun[key] = now()
            await asyncio.sleep(seconds)
            active.discard(key)
            queue.done(key)

    tasks = [asyncio.ensure_future(work()) for _ in range(workers)]
    for step, *arguments in steps:
        if step == "wait":
            await asyncio.sleep(*arguments)
        else:
            getattr(queue, step)(*arguments)
            asked[arguments[0]] = now()
    await asyncio.sleep(60)
    assert not any(task.done() for task in tasks), [task.exception() for task in tasks if task.done()]
    assert (queue.depth(), queue.active(), queue.delayed()) == (0, 0, 0)
    assert asked.keys() == begun.keys() and all(begun[key] >= asked[key] for key in asked), "a key was lost"
    for task in tasks:
        task.cancel()


@given(st.lists(STEPS, max_size=30), st.integers(1, 4), st.sampled_from([0.0, 0.2, 1.5]))
def test_no_key_is_lost_and_none_is_worked_on_twice_at_once(steps: list[tuple[Any, ...]], workers: int, seconds: float) -> None:
    run_virtual(live_through(steps, workers, seconds))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=40, unique=True))
def test_no_group_waits_longer_than_one_turn_of_each_other(keys: list[tuple[str, int]]) -> None:
    async def order() -> list[tuple[str, int]]:
        queue = WorkQueue[tuple[str, int]](group=lambda key: key[0])
        for key in keys:
            queue.add(key)
        return await taken(queue, len(keys))

    groups = [key[0] for key in run_virtual(order())]
    for start, group in enumerate(groups):
        between = groups[start + 1 :]
        if group in between:
            turn = between[: between.index(group)]
            assert len(turn) == len(set(turn))


@in_virtual_time
async def test_a_key_with_a_pace_is_given_at_once_and_then_not_before_its_time() -> None:
    queue = WorkQueue[str](pace=lambda key: 0.25 if key == "slow" else 0.0)
    queue.add("slow")
    assert await taken(queue, 1) == ["slow"]
    began = now()
    for key in ("slow", "slow", "quick"):
        queue.add(key)
    assert await taken(queue, 2) == ["quick", "slow"]
    assert now() - began == pytest.approx(0.25)


@in_virtual_time
async def test_a_key_with_a_pace_that_is_tried_again_while_it_rests_is_not_forgotten() -> None:
    queue = WorkQueue[str](pace=lambda _: 0.25)
    queue.add("a")
    await queue.get()
    queue.retry("a")  # in 5 ms, when it rests
    queue.done("a")
    began = now()
    assert await asyncio.wait_for(queue.get(), 1) == "a"
    assert now() - began == pytest.approx(0.25)


@in_virtual_time
async def test_a_key_with_a_pace_that_becomes_due_while_it_is_in_work_rests_all_the_same() -> None:
    queue = WorkQueue[str](pace=lambda _: 0.25)
    queue.add("slow")
    key = await queue.get()
    queue.add("slow")
    queue.done(key)
    began = now()
    assert await taken(queue, 1) == ["slow"]
    assert now() - began == pytest.approx(0.25)
    await asyncio.sleep(1)
    queue.add("slow")
    began = now()
    assert await taken(queue, 1) == ["slow"]
    assert now() == began


@in_virtual_time
async def test_a_key_that_has_rested_and_never_comes_again_is_forgotten() -> None:
    queue = WorkQueue[str](pace=lambda _: 0.25)
    for key in ("a", "b", "c"):
        queue.add(key)
        queue.done(await queue.get())
        await asyncio.sleep(1)
    assert list(queue._not_before) == ["c"]


@in_virtual_time
async def test_a_group_that_has_its_share_in_work_lets_others_pass() -> None:
    queue = WorkQueue[str](group=lambda key: key[0], share=2)
    for key in ("a1", "a2", "a3", "b1"):
        queue.add(key)
    assert sorted([await queue.get(), await queue.get(), await queue.get()]) == ["a1", "a2", "b1"]
    waiting = asyncio.ensure_future(queue.get())
    await asyncio.sleep(1)
    assert not waiting.done()
    queue.done("a1")
    assert await waiting == "a3"
