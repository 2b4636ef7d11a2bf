"""Lets rest what is written again and again without an end, because others want something else.

Those who change it back afterwards wake the key each time, which rests (`Contests`). An admission webhook changes the write itself: nothing
is stored, so that the key need not rest, and only this object is not written (`OverriddenWrites`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from applier.desired import Desired
from applier.errors import TakenBack
from applier.loop.decisions import digest_of_manifest
from applier.outcome import Action, Outcome, Path, Step
from applier.ref import Manifest, Ref

K = TypeVar("K", bound=Hashable)

MAX_WRITES = 5
"""How often the same is written to an object, each time within `SOON` of the last, before its key rests. People edit what is reverted, and
a stale cache may cause a write or two."""
SOON = 60.0
"""Seconds after which a write is forgotten. Longer than the longest rest."""
AT_ONCE = 2.0
"""Seconds within which an object is created again that is deleted or changed by a program, and not by a person."""
MIN_REST, MAX_REST = 1.0, 30.0
"""Seconds that a key rests at first, and at most: twice as long after each write."""

_Target = tuple[Path, ...] | bytes
"""The fields that are written, or the digest of what is created."""


class _Write(NamedTuple):
    intent: Manifest | None
    times: int
    at: float


class Contested(NamedTuple):
    """Tells for how many seconds a key should rest, which of its objects are contested, and which are created again and again, by whose."""

    rest: float
    written: list[Ref]
    created: dict[Ref, Ref | None]


def _is_created(outcome: Outcome) -> bool:
    """Reports whether an object was created, of which watches tell, whether it is still there or not."""
    return outcome.action is Action.CREATED or isinstance(outcome.error, TakenBack)


class Contests(Generic[K]):
    """Counts how often the same fields of an object are written with the same intent, and the same object is created by whatever name.

    Another controller that wants other values, or an admission webhook that sets new ones at each request, reacts within milliseconds, and
    its change wakes us. So does what it deletes, or takes from its owner. Times are in seconds of any clock.
    """

    def __init__(self) -> None:
        self._writes: OrderedDict[tuple[K, Ref | None, _Target], _Write] = OrderedDict()  # the oldest first
        self._rests: dict[K, float] = {}  # until when

    def observe(self, key: K, outcomes: Sequence[Outcome], now: float, desired: Mapping[Ref, Desired]) -> Contested:
        """Takes in what came of a reconcile of a key that has desired these objects."""
        while self._writes and now - next(iter(self._writes.values())).at > SOON:
            self._writes.popitem(last=False)
        most, contested = 0, Contested(0.0, [], {})
        for outcome in outcomes:
            ref = outcome.step.ref
            if outcome.action is Action.CONFIGURED and outcome.step.intent is not None:
                fields = tuple(change.path for change in outcome.step.changes)
                most = max(most, count := self._count((key, ref, fields), outcome.step.intent, now))
                if count > MAX_WRITES:
                    contested.written.append(ref)
            elif _is_created(outcome) and (one := desired.get(ref)) is not None and one.policy.create_only:
                most = max(most, count := self._count_created(key, one, now))
                if count > MAX_WRITES:
                    contested.created[ref] = one.owner
        self._rests.pop(key, None)
        if most <= MAX_WRITES:
            return contested
        rest = min(MIN_REST * 2.0 ** min(most - MAX_WRITES - 1, 64), MAX_REST)
        self._rests[key] = now + rest
        return contested._replace(rest=rest)

    def _count_created(self, key: K, one: Desired, now: float) -> int:
        """Returns how often the same was created at once, which it is not if it was there for a while: then somebody has deleted it."""
        metadata = {name: value for name, value in one.manifest["metadata"].items() if name != "name"}
        if (digest := digest_of_manifest({**one.manifest, "metadata": metadata})) is None:
            return 0
        place = key, one.owner, digest
        if (last := self._writes.get(place)) is not None and now > max(last.at, self._rests.get(key, 0.0)) + AT_ONCE:
            del self._writes[place]
        return self._count(place, None, now)

    def _count(self, place: tuple[K, Ref | None, _Target], intent: Manifest | None, now: float) -> int:
        """Returns how often the same has been written, this time included."""
        last = self._writes.pop(place, None)
        count = last.times + 1 if last is not None and last.intent == intent else 1
        self._writes[place] = _Write(intent, count, now)
        return count


FIRST_REST = 0.1
"""Seconds for which an object is not written at first after a write that a webhook has overridden. Its key does not rest."""


class _VainWrite(NamedTuple):
    """Holds what was written to an object without a change, how often before, and until when it is not written again."""

    content: _Content
    times: int
    until: float


_Content = tuple[str, list[tuple[Path, Any, Any]]]
"""The UID of an object, and what is changed in it."""


def _content(step: Step) -> _Content:
    """Returns what a step changes, without who has set it before, and when."""
    return step.uid, [(change.path, change.old, change.new) for change in step.changes]


class OverriddenWrites:
    """Remembers which of a key's last writes an admission webhook has overridden, so that the same is not written for a while."""

    def __init__(self) -> None:
        self._last: dict[Ref, _VainWrite] = {}

    def resting(self, steps: Iterable[Step], now: float) -> set[Ref]:
        """Returns the objects to which the same was written in vain a moment ago: an admission webhook has set other values.

        Nothing is stored then, so that no watch event wakes the key. But whatever else does would have it written again.
        """
        vain = ((step, self._last.get(step.ref)) for step in steps) if self._last else ()
        return {step.ref for step, last in vain if last is not None and now < last.until and last.content == _content(step)}

    def observe(self, outcomes: Iterable[Outcome], resting: Collection[Ref], now: float) -> None:
        """Takes in which writes were in vain, and for how long they rest: twice as long after each."""
        last, self._last = self._last, {}
        for outcome in outcomes:
            if not outcome.is_overridden:
                continue
            ref, content = outcome.step.ref, _content(outcome.step)
            vain = last.get(ref)
            if vain is None or ref not in resting:
                times = vain.times + 1 if vain is not None and vain.content == content else 0
                vain = _VainWrite(content, times, now + min(FIRST_REST * 2.0 ** min(times, 64), MAX_REST))
            self._last[ref] = vain
            outcome.retry_after = max(vain.until - now, 0.0)
