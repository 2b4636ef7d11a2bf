"""Budgets and waits, by a clock that the tests turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from applier.errors import TooManyRequests, Unreachable
from applier.transport.retries import Retries, RetryBudget, Tries

PASSING = Unreachable("reset")


class Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_a_budget_ends() -> None:
    budget = RetryBudget(most=3, per_second=0, now=Clock())
    assert [budget.take() for _ in range(5)] == [True, True, True, False, False]


def test_a_budget_comes_back_with_time() -> None:
    clock = Clock()
    budget = RetryBudget(most=2, per_second=1, now=clock)
    assert [budget.take() for _ in range(3)] == [True, True, False]
    clock.time = 1
    assert [budget.take() for _ in range(2)] == [True, False]


@given(st.lists(st.floats(0, 100), max_size=50))
def test_a_budget_never_gives_more_than_it_holds_and_earns(pauses: list[float]) -> None:
    clock = Clock()
    budget = RetryBudget(most=5, per_second=0.5, now=clock)
    taken = 0
    for pause in pauses:
        clock.time += pause
        taken += budget.take()
    assert taken <= 5 + clock.time * 0.5 + 1e-6


def test_waits_double_and_are_left_to_chance_by_half() -> None:
    tries = Tries(Retries(first=1, longest=100, deadline=1e9), RetryBudget(now=Clock()), idempotent=True, now=Clock())
    for whole in (1, 2, 4, 8):
        pause = tries.pause(PASSING)
        assert pause is not None
        assert whole / 2 <= pause <= whole


def test_waits_do_not_grow_for_ever() -> None:
    tries = Tries(Retries(tries=100, first=1, longest=5, deadline=1e9), RetryBudget(now=Clock()), idempotent=True, now=Clock())
    assert max(tries.pause(PASSING) or 0 for _ in range(50)) <= 5


def test_no_wait_goes_beyond_the_deadline() -> None:
    clock = Clock()
    tries = Tries(Retries(first=1, deadline=10), RetryBudget(now=clock), idempotent=True, now=clock)
    clock.time = 9.8
    assert tries.pause(PASSING) is None


def test_the_wait_that_a_server_asks_for_is_kept() -> None:
    tries = Tries(Retries(first=0.1), RetryBudget(now=Clock()), idempotent=True, now=Clock())
    pause = tries.pause(TooManyRequests(429, "", "", retry_after=7.0))
    assert pause is not None
    assert 7.0 <= pause <= 7.1


def test_a_busy_server_costs_no_budget() -> None:
    budget = RetryBudget(most=1, per_second=0, now=Clock())
    tries = Tries(Retries(), budget, idempotent=True, now=Clock())
    tries.pause(TooManyRequests(429, "", ""))
    assert budget.left == 1


BUSY = TooManyRequests(429, "", "", retry_after=1.0)


def test_a_server_that_is_too_busy_for_all_requests_is_waited_for_once() -> None:
    clock = Clock()
    budget = RetryBudget(now=clock)
    first = Tries(Retries(deadline=10), budget, idempotent=True, now=clock)
    while (pause := first.pause(BUSY)) is not None:
        clock.time += pause
    assert 8 < clock.time < 10
    assert Tries(Retries(deadline=10), budget, idempotent=True, now=clock).pause(BUSY) is None


def test_a_server_that_took_something_is_waited_for_again() -> None:
    clock = Clock()
    budget = RetryBudget(now=clock)
    Tries(Retries(deadline=10), budget, idempotent=True, now=clock).pause(BUSY)
    clock.time = 60
    budget.note_accepted()
    assert Tries(Retries(deadline=10), budget, idempotent=True, now=clock).pause(BUSY) is not None


def test_what_does_not_pass_is_not_tried_again() -> None:
    tries = Tries(Retries(), RetryBudget(now=Clock()), idempotent=True, now=Clock())
    assert tries.pause(Unreachable("no such certificate", passing=False)) is None


def test_a_write_that_may_be_done_is_not_repeated_where_that_does_harm() -> None:
    tries = Tries(Retries(), RetryBudget(now=Clock()), idempotent=False, now=Clock())
    assert tries.pause(Unreachable("reset", maybe_done=True)) is None


def test_a_write_that_was_never_sent_is_repeated_even_where_twice_would_do_harm() -> None:
    tries = Tries(Retries(), RetryBudget(now=Clock()), idempotent=False, now=Clock())
    assert tries.pause(Unreachable("refused")) is not None
