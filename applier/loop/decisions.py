"""Remembers what was decided on the objects of a key and written to them, so that neither is repeated without need or end."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from applier.decision import Type
from applier.desired import Desired, Policy
from applier.errors import TakenBack
from applier.outcome import WRITTEN, Action, Outcome, Path, Step
from applier.plan import Intent, step_for
from applier.ref import Manifest, Ref
from kube_objects.digest import digest_of

_AGAIN = WRITTEN | {Action.FAILED, Action.PRUNED}
"""What is decided again each time: it changes the object, or may not fail again. What is left unchanged is remembered."""


class _Decided(NamedTuple):
    """Holds a step and all that it was decided on: the very objects that are shared and never changed, and equals of the others."""

    step: Step
    live: Manifest
    manifest: bytes
    schema: Type | None
    intent: Intent
    owner: tuple[Ref | None, str]
    policy: Policy


class Decisions:
    """Decides the steps of a key's objects, as `step_for` does, and remembers those of its last plan that write nothing, or wrote in vain.

    Most objects of most reconciles are as they were, in a simulated cluster nine in ten, and to find that takes a tenth of the time of a
    decision. As much is remembered as the key desires, without the manifests: a digest of each is kept. Nothing is remembered of objects
    that are only created, which are many, and mostly not even compared.
    """

    def __init__(self) -> None:
        self._known: dict[Ref, _Decided] = {}
        self._last: dict[Ref, _Decided] = {}
        self._vain: dict[Ref, _VainWrite] = {}

    def begin(self) -> None:
        """Begins a plan. Of objects that it has none of nothing is remembered."""
        self._last, self._known = self._known, {}

    def step_for(
        self, desired: Desired, live: Manifest | None, schema: Type | None, intent: Intent, owner_uid: str, replaced: str = ""
    ) -> Step:
        """Returns the step of an object: see `applier.plan.step_for`."""
        is_compared = live is not None and not replaced and not desired.policy.create_only
        if live is None or not is_compared or (digest := _digest(desired.manifest)) is None:
            return step_for(desired, live, schema, intent, owner_uid, replaced)
        owner, known = (desired.owner, owner_uid), self._last.get(desired.ref)
        if (
            known is None
            or known.live is not live
            or known.manifest != digest
            or known.schema is not schema
            or known.intent != intent
            or known.owner != owner
            or known.policy != desired.policy
        ):
            step = step_for(desired, live, schema, intent, owner_uid)
            if step.action in _AGAIN:
                return step
            known = _Decided(_copy(step), live, digest, schema, intent, owner, desired.policy)
        self._known[desired.ref] = known
        return _copy(known.step)

    def resting(self, steps: Iterable[Step], now: float) -> set[Ref]:
        """Returns the objects to which the same was written in vain a moment ago: an admission webhook has set other values.

        Nothing is stored then, so that no watch event wakes the key. But whatever else does would have it written again.
        """
        vain = ((step, self._vain.get(step.ref)) for step in steps) if self._vain else ()
        return {step.ref for step, last in vain if last is not None and now < last.until and last.content == _content(step)}

    def observe(self, outcomes: Iterable[Outcome], resting: Collection[Ref], now: float) -> None:
        """Takes in which writes were in vain, and for how long they rest: twice as long after each."""
        last, self._vain = self._vain, {}
        for outcome in outcomes:
            if not outcome.is_overridden:
                continue
            ref, content = outcome.step.ref, _content(outcome.step)
            vain = last.get(ref)
            if vain is None or ref not in resting:
                times = vain.times + 1 if vain is not None and vain.content == content else 0
                vain = _VainWrite(content, times, now + min(FIRST_REST * 2.0 ** min(times, 64), MAX_REST))
            self._vain[ref] = vain
            outcome.retry_after = max(vain.until - now, 0.0)


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


def _copy(step: Step) -> Step:
    """Returns a step of its own for each plan, since its wave and what comes of it are noted in it; the intent only serves writes."""
    return Step(
        step.ref,
        step.action,
        step.reason,
        step.changes,
        step.conflicts,
        step.uid,
        step.resource_version,
        unsure=step.unsure,
        force=step.force,
        patch=step.patch,
        obstacle=step.obstacle,
    )


def _digest(manifest: Manifest) -> bytes | None:
    """Returns what tells a manifest from any other, also `1` from `true`, which Python takes for equal; None for one that is no JSON."""
    try:
        return digest_of(orjson.dumps(manifest))
    except TypeError:
        return None


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
FIRST_REST = 0.1
"""Seconds for which an object is not written at first to which a write was in vain. Its key does not rest."""


_What = tuple[Path, ...] | bytes
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
        self._writes: OrderedDict[tuple[K, Ref | None, _What], _Write] = OrderedDict()  # the oldest first
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
        if (digest := _digest({**one.manifest, "metadata": metadata})) is None:
            return 0
        place = key, one.owner, digest
        if (last := self._writes.get(place)) is not None and now > max(last.at, self._rests.get(key, 0.0)) + AT_ONCE:
            del self._writes[place]
        return self._count(place, None, now)

    def _count(self, place: tuple[K, Ref | None, _What], intent: Manifest | None, now: float) -> int:
        """Returns how often the same has been written, this time included."""
        last = self._writes.pop(place, None)
        count = last.times + 1 if last is not None and last.intent == intent else 1
        self._writes[place] = _Write(intent, count, now)
        return count
