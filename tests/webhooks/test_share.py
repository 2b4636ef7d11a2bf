"""How much of the time what is only helpful may take: a part of it, and next to nothing where much is asked."""

from __future__ import annotations

import pytest

from grove_operator.webhooks.share import BUSY, Share, Traffic


class Clock:
    """A time that stands still until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("questions", "rests"), [(0, 3.0), (BUSY - 1, 3.0), (BUSY, 399.0)], ids=["where nothing is asked", "little", "much"]
)
def test_after_work_it_rests_longer_where_more_is_asked(questions: int, rests: float) -> None:
    clock = Clock()
    traffic = Traffic(clock)
    share = Share(clock, traffic)
    with share.work():
        clock.now = 1.0
        for _ in range(questions):
            traffic.note()
    clock.now = 1.0 + rests - 0.1
    assert share.is_exhausted
    clock.now = 1.0 + rests
    assert not share.is_exhausted


@pytest.mark.parametrize(("after", "busy"), [(0.9, True), (1.0, False)])
def test_traffic_is_busy_for_a_second(after: float, busy: bool) -> None:
    clock = Clock()
    traffic = Traffic(clock)
    for _ in range(BUSY):
        traffic.note()
    clock.now = after
    assert traffic.is_busy is busy
