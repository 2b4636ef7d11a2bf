"""Shortens a schedule that goes wrong to the events that matter."""

from __future__ import annotations

from collections.abc import Callable

from tests.simulation.schedules import Action


def shortened(schedule: list[Action], goes_wrong: Callable[[list[Action]], bool]) -> list[Action]:
    """Returns a part of the schedule that goes wrong, too, and does not without any one of its events: leaves out halves, then less."""
    size = max(1, len(schedule) // 2)
    while True:
        shorter = _without_some(schedule, size, goes_wrong)
        if shorter == schedule and size == 1:
            return schedule
        schedule, size = shorter, max(1, size // 2)


def _without_some(schedule: list[Action], size: int, goes_wrong: Callable[[list[Action]], bool]) -> list[Action]:
    """Returns the schedule without each run of so many events that it goes wrong without."""
    start = 0
    while start < len(schedule):
        shorter = schedule[:start] + schedule[start + size :]
        if goes_wrong(shorter):
            schedule = shorter
        else:
            start += size
    return schedule
