"""Defines an entry of a set's history."""

from __future__ import annotations

from grove_cli.queries.times import time_in
from grove_compiler.record import record


@record
class Moment:
    """An entry of the history. `at` is in seconds since the epoch; `replica` and `attempt` are none for one about the whole workload."""

    at: float
    what: str
    message: str
    replica: int | None = None
    attempt: int | None = None
    is_bad: bool = False


def moment_at(
    text: object, what: str, message: str, where: tuple[int | None, int | None] = (None, None), *, is_bad: bool = False
) -> Moment | None:
    """Returns an entry at the time in a field; none without a time."""
    at = time_in(text)
    return None if at is None else Moment(at, what, message, *where, is_bad)
