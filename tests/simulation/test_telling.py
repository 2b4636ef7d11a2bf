"""Of many random schedules those are played in which most kinds of events meet."""

from __future__ import annotations

from itertools import combinations

from tests.simulation.drawn import schedule
from tests.simulation.schedules import Action, Break, Night, Pass, Tick
from tests.simulation.telling import MANY, telling

FEW: list[list[Action]] = [[Pass(1)], [Pass(2), Tick()], [Night(), Pass(1), Tick()], [Break(forgotten=False)]]
NOTHING: list[Action] = [Tick()]
SCHEDULES = [*FEW, *[NOTHING] * 20]


def test_the_one_with_most_pairs_comes_first_and_then_those_with_others() -> None:
    assert telling(lambda number: SCHEDULES[number], 2) == [2, 3]


def test_more_kinds_meet_than_in_the_first_ones() -> None:
    def met(numbers: list[int]) -> int:
        return len({pair for number in numbers for pair in combinations(sorted({type(event).__name__ for event in schedule(number)}), 2)})

    assert met(list(telling(schedule, 10))) > 1.5 * met(list(range(10)))


def test_of_a_nights_schedules_all_are_played() -> None:
    assert telling(schedule, MANY, first=1000) == range(1000, 1000 + MANY)
