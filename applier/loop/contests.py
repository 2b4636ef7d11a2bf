"""Notices objects that somebody changes after each of our writes, so that a loop does not write them without end."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Generic, NamedTuple, TypeVar

from applier.outcome import Action, Outcome
from applier.ref import Manifest, Ref

K = TypeVar("K", bound=Hashable)

MAX_WRITES = 5
"""How often the same is written to an object, each time within `SOON` of the last, before its key rests. People edit what is reverted, and
a stale cache may cause a write or two."""
SOON = 60.0
"""Seconds after which a write is forgotten. Longer than the longest rest."""
MIN_REST, MAX_REST = 1.0, 30.0
"""Seconds that a key rests at first, and at most: twice as long after each write."""


class _Write(NamedTuple):
    intent: Manifest
    times: int
    at: float


class Contests(Generic[K]):
    """Counts how often the same fields of an object are written with the same intent.

    Another controller that wants other values, or an admission webhook that sets new ones at each request, reacts within milliseconds, and
    its change wakes us. Times are in seconds of any clock.
    """

    def __init__(self) -> None:
        self._writes: OrderedDict[tuple[K, Ref, str], _Write] = OrderedDict()  # the oldest first

    def observe(self, key: K, outcomes: Sequence[Outcome], now: float) -> tuple[float, list[Ref]]:
        """Takes in what came of a reconcile; returns for how many seconds its key should rest, and which objects are contested."""
        while self._writes and now - next(iter(self._writes.values())).at > SOON:
            self._writes.popitem(last=False)
        most, contested = 0, []
        for outcome in outcomes:
            if outcome.action is Action.CONFIGURED and outcome.step.intent is not None:
                count = self._count(key, outcome, outcome.step.intent, now)
                most = max(most, count)
                if count > MAX_WRITES:
                    contested.append(outcome.step.ref)
        return (min(MIN_REST * 2.0 ** min(most - MAX_WRITES - 1, 64), MAX_REST) if contested else 0.0), contested

    def _count(self, key: K, outcome: Outcome, intent: Manifest, now: float) -> int:
        """Returns how often the same has been written, this time included."""
        place = (key, outcome.step.ref, outcome.reason)
        last = self._writes.pop(place, None)
        count = last.times + 1 if last is not None and last.intent == intent else 1
        self._writes[place] = _Write(intent, count, now)
        return count
