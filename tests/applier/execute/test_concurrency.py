"""How many writes are in flight."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from applier.errors import TooManyRequests
from applier.events import Adapted, Event, Throttled
from applier.execute.concurrency import Concurrency
from applier.testing.virtual_time import in_virtual_time


class Clock:
    """A time that goes on when a request says how long it took."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def drive(limit: Concurrency, clock: Clock, count: int, seconds: float) -> int:
    """Makes requests that a server answers one after the other, `seconds` each; the most that were in flight."""
    most = 0

    async def call() -> None:
        nonlocal most
        most = max(most, limit.in_flight)
        await asyncio.sleep(0)
        clock.now += seconds

    await asyncio.gather(*(limit.run(call) for _ in range(count)))
    return most


async def test_no_more_than_the_limit_are_in_flight() -> None:
    assert await drive(Concurrency(4, most=4), Clock(), 40, 0.1) == 4


async def test_results_come_back() -> None:
    async def call() -> str:
        return "done"

    assert await Concurrency().run(call) == "done"


async def test_a_request_that_fails_gives_its_place_back() -> None:
    async def call() -> None:
        raise ValueError

    limit = Concurrency(1)
    for _ in range(2):
        with pytest.raises(ValueError):
            await limit.run(call)
    assert limit.in_flight == 0


async def test_a_saturated_server_is_not_given_more_and_more() -> None:
    clock = Clock()
    limit = Concurrency(16, most=64, clock=clock)
    await drive(limit, clock, 2000, 0.01)
    assert limit.limit <= 20


async def test_a_server_that_becomes_slow_is_given_less() -> None:
    clock = Clock()
    limit = Concurrency(16, most=64, clock=clock)
    await drive(limit, clock, 100, 0.01)
    await drive(limit, clock, 400, 0.1)
    assert limit.limit < 16


async def test_more_are_tried_while_it_pays() -> None:
    """A server that answers a whole round in the same time, however large it is."""
    clock = Clock()
    limit = Concurrency(16, most=64, clock=clock)

    async def call() -> None:
        await asyncio.sleep(0)
        clock.now += 0.1 / limit.limit

    await asyncio.gather(*(limit.run(call) for _ in range(3000)))
    assert limit.limit == 64


async def test_every_change_of_the_limit_is_told() -> None:
    clock, told = Clock(), list[Event]()
    limit = Concurrency(16, most=64, clock=clock, sink=told.append)
    await drive(limit, clock, 100, 0.01)
    adapted = [one for one in told[:2] if isinstance(one, Adapted)]
    assert [one.in_flight for one in adapted] == [20, 16]
    assert [one.per_second for one in adapted] == pytest.approx([100, 100])


async def test_few_requests_teach_nothing() -> None:
    clock = Clock()
    limit = Concurrency(16, clock=clock)
    await drive(limit, clock, 15, 5.0)
    assert limit.limit == 16


def throttle(seconds: float | None) -> TooManyRequests:
    return TooManyRequests(429, "TooManyRequests", "slow down", retry_after=seconds)


async def refused(limit: Concurrency, seconds: float | None = 0.0) -> None:
    async def call() -> None:
        await asyncio.sleep(0)
        raise throttle(seconds)

    with pytest.raises(TooManyRequests):
        await limit.run(call)


async def test_a_refusal_for_haste_halves_the_limit_and_is_told() -> None:
    told: list[Event] = []
    limit = Concurrency(16, sink=told.append)
    await refused(limit, 3.0)
    assert (limit.limit, told) == (8, [Throttled(3.0, 8)])


async def test_refusals_of_requests_that_were_under_way_together_count_once() -> None:
    limit = Concurrency(16)
    await asyncio.gather(*(refused(limit, 60.0) for _ in range(5)))
    assert limit.limit == 8


async def test_the_limit_never_falls_below_the_least() -> None:
    limit = Concurrency(3, least=2, clock=Clock())
    for _ in range(4):
        limit.slow_down(0.0)
    assert limit.limit == 2


async def test_nothing_is_begun_before_the_time_that_the_server_named() -> None:
    loop = asyncio.get_running_loop()
    limit = Concurrency(16, clock=loop.time)
    await refused(limit, 0.02)
    refused_at = loop.time()
    await drive(limit, Clock(), 1, 0.0)
    assert loop.time() - refused_at >= 0.015


async def test_refusals_that_the_transport_repeated_by_itself_count_too() -> None:
    count = 0
    limit = Concurrency(16, throttled=lambda: count)

    async def call() -> None:
        nonlocal count
        count = 1

    await limit.run(call)
    assert limit.limit == 8


async def test_who_stops_waiting_leaves_its_place_to_the_next() -> None:
    limit, go = Concurrency(1, most=1), asyncio.Event()

    async def wait() -> None:
        await go.wait()

    first, second, third = (asyncio.create_task(limit.run(wait)) for _ in range(3))
    await asyncio.sleep(0)
    second.cancel()
    go.set()
    await asyncio.gather(first, third)
    assert (limit.in_flight, second.cancelled()) == (0, True)


async def test_many_may_stop_at_once_while_places_become_free() -> None:
    limit, go = Concurrency(1, most=1), asyncio.Event()

    async def wait() -> None:
        await go.wait()

    tasks = [asyncio.create_task(limit.run(wait)) for _ in range(4)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in ended] == [asyncio.CancelledError] * 4


async def test_who_is_given_a_place_and_stops_gives_it_on() -> None:
    limit, go = Concurrency(1, most=1), asyncio.Event()

    async def wait() -> None:
        await go.wait()

    first, second = (asyncio.create_task(limit.run(wait)) for _ in range(2))
    await asyncio.sleep(0)
    go.set()
    await first
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    assert limit.in_flight == 0


async def test_who_stops_while_the_server_throttles_gives_its_place_on() -> None:
    limit = Concurrency(1, most=1)
    limit.slow_down(3600.0)
    waiting = asyncio.create_task(limit.run(lambda: asyncio.sleep(0)))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert limit.in_flight == 0


def test_its_state_can_be_read() -> None:
    assert repr(Concurrency(4)) == "<Concurrency 0 of 4 in flight, 0 waiting>"


async def test_a_group_leaves_room_for_others_whatever_its_writes_wait_for() -> None:
    limit, answered = Concurrency(8, most=8), asyncio.Event()
    hanging = [asyncio.ensure_future(limit.run(answered.wait, "bad")) for _ in range(20)]
    await asyncio.sleep(0)

    async def call() -> str:
        return "done"

    assert await asyncio.wait_for(limit.run(call, "good"), 5) == "done"
    assert limit.in_flight == 6
    answered.set()
    await asyncio.gather(*hanging)
    assert limit.in_flight == 0


@in_virtual_time
async def test_a_group_whose_answers_take_half_a_minute_each_delays_nobody_else_however_long_that_lasts() -> None:
    limit, over = Concurrency(), False

    async def slow() -> None:
        await asyncio.sleep(30)

    async def quick() -> None:
        await asyncio.sleep(0.1)

    async def keep_writing(call: Callable[[], Awaitable[None]], group: str) -> None:
        while not over:
            await limit.run(call, group)

    crowd = [asyncio.ensure_future(keep_writing(slow, "bad")) for _ in range(40)]
    crowd += [asyncio.ensure_future(keep_writing(quick, "good")) for _ in range(5)]
    await asyncio.sleep(120)
    clock = asyncio.get_running_loop().time
    began = clock()
    await asyncio.gather(*(limit.run(quick, f"set {number}") for number in range(100)))
    over = True
    assert clock() - began < 5
    await asyncio.gather(*crowd)


@in_virtual_time
async def test_one_place_is_for_others_also_where_few_are_in_flight() -> None:
    limit = Concurrency(2, most=2)

    async def hang() -> None:
        await asyncio.sleep(30)

    hanging = [asyncio.ensure_future(limit.run(hang, "bad")) for _ in range(5)]
    await asyncio.sleep(1)
    await asyncio.wait_for(limit.run(lambda: asyncio.sleep(0.01), "good"), 5)
    await asyncio.gather(*hanging)


@in_virtual_time
async def test_a_group_that_hangs_keeps_nobody_out_when_the_limit_falls_below_what_it_has_in_flight() -> None:
    limit = Concurrency(16, most=16)

    async def hang() -> None:
        await asyncio.sleep(30)

    hanging = [asyncio.ensure_future(limit.run(hang, "bad")) for _ in range(20)]
    await asyncio.sleep(1)
    limit.slow_down(0.0)
    assert limit.in_flight > limit.limit
    await asyncio.wait_for(asyncio.gather(*(limit.run(lambda: asyncio.sleep(0.01), f"good {number}") for number in range(10))), 5)
    await asyncio.gather(*hanging)
    assert limit.in_flight == 0


async def answered_after(seconds: float, limit: Concurrency, group: str | None, count: int) -> Sequence[asyncio.Future[None]]:
    """Begins writes of a group whose answers take so long."""
    writes = [asyncio.ensure_future(limit.run(lambda: asyncio.sleep(seconds), group)) for _ in range(count)]
    await asyncio.sleep(0)
    return writes


@in_virtual_time
async def test_a_write_that_hangs_gives_its_slot_back() -> None:
    limit = Concurrency(4, least=4, most=4)
    hanging = await answered_after(60.0, limit, "bad", 40)
    await asyncio.gather(*await answered_after(0.1, limit, "good", 10))
    assert limit.in_flight == 3, "one slot is reserved for others"
    await asyncio.sleep(1)
    good = await answered_after(0.1, limit, "good", 10)
    assert limit.in_flight == 3 + 3, "as many as a group may have in flight where nothing hangs"
    await asyncio.gather(*good)
    for one in hanging:
        one.cancel()


@in_virtual_time
async def test_a_slot_is_given_back_also_where_no_answer_comes() -> None:
    limit = Concurrency(1, least=1, most=1)
    await limit.run(lambda: asyncio.sleep(0.01))
    [hanging] = await answered_after(60.0, limit, "bad", 1)
    [waiting] = await answered_after(0.1, limit, "good", 1)
    began = asyncio.get_running_loop().time()
    await waiting
    assert asyncio.get_running_loop().time() - began == pytest.approx(1.1)
    hanging.cancel()


@in_virtual_time
async def test_no_more_than_the_highest_limit_hang() -> None:
    limit = Concurrency(2, least=2, most=4)
    await limit.run(lambda: asyncio.sleep(0.01))
    writes = [one for number in range(40) for one in await answered_after(60.0, limit, f"bad-{number}", 1)]
    await asyncio.sleep(30)
    assert limit.in_flight == limit.most + limit.limit
    for one in writes:
        one.cancel()


@in_virtual_time
async def test_no_write_hangs_on_a_server_that_is_slow_to_answer_all() -> None:
    limit, most = Concurrency(4, least=4, most=4), 0
    writes = [one for number in range(40) for one in await answered_after(3.0, limit, f"set-{number}", 1)]
    while not all(one.done() for one in writes):
        most = max(most, limit.in_flight)
        await asyncio.sleep(0.5)
    assert most == 4


@in_virtual_time
async def test_a_pause_that_the_server_asked_for_is_no_hanging() -> None:
    limit = Concurrency(2, least=2, most=2)
    await limit.run(lambda: asyncio.sleep(0.01))
    limit.slow_down(10.0)
    writes = await answered_after(0.1, limit, None, 20)
    await asyncio.sleep(9.0)
    later = await answered_after(0.1, limit, None, 20)
    assert limit.in_flight <= 2
    await asyncio.gather(*writes, *later)
