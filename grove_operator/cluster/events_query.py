"""Finds the events that the operator told, and folds those that say the same of the same object into one."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from applier.ref import Manifest
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.timestamp import time
from grove_compiler.model.names import replica_of
from grove_compiler.record import record
from grove_operator.cluster.tree_query import NoSuchObject, check_name
from grove_operator.short_names import SHORT_NAMES

OPERATOR = "grove-operator"
CLUSTER_WIDE = ("ClusterTopology", "ClusterTopologyBinding")
"""Kinds without a namespace; what is told of them lies in `default`."""
KINDS = (SET_KIND, "PodCliqueScalingGroup", "PodClique", "PodGang", "Pod", "ComputeDomain", *CLUSTER_WIDE)
"""What the operator tells of."""


@record
class EventLine:
    """What was told of an object, once or many times. Times are in seconds since the epoch; `message` is the last one."""

    namespace: str
    kind: str
    name: str
    type: str
    reason: str
    message: str
    count: int
    first: float | None
    last: float | None


@record
class About:
    """Which events are wanted: of one object, or of a set with all that is of it; of all objects where there is no `name`.

    `sets` are the names of all sets of the namespace: parts of `chat-0` are none of `chat`. `types` are some of Normal and Warning; none
    stand for both.
    """

    kind: str = ""
    name: str = ""
    sets: Collection[str] = ()
    types: Collection[str] = ()

    def takes(self, event: Manifest) -> bool:
        """Tells whether the operator told an event, of what is asked about."""
        if _teller(event) != OPERATOR or (self.types and event.get("type") not in self.types):
            return False
        of = event.get("involvedObject") or {}
        kind, name = str(of.get("kind")), str(of.get("name"))
        if not self.name or (kind, name) == (self.kind, self.name):
            return True
        return self.kind == SET_KIND and kind not in (SET_KIND, *CLUSTER_WIDE) and _set_of(name, {*self.sets, self.name}) == self.name


def about(words: str) -> tuple[str, str]:
    """Returns the kind and name that `NAME` or `KIND/NAME` means. Raises `NoSuchObject`."""
    word, _, name = words.rpartition("/")
    check_name(name, words)
    if not word:
        return SET_KIND, name
    wanted = SHORT_NAMES.get(word.lower(), word).lower().partition(".")[0]
    for kind in KINDS:
        if wanted in (kind.lower(), f"{kind.lower()}s", f"{kind.lower()[:-1]}ies"):
            return kind, name
    raise NoSuchObject(f"{word!r} is not a kind that the operator records events on: expected one of {', '.join(KINDS)}")


class Fold:
    """Adds up events by object and reason. An event that is told again, with another count, stands in its own place."""

    def __init__(self) -> None:
        self._events: dict[tuple[str, ...], dict[str, Manifest]] = {}

    def add(self, event: Manifest) -> EventLine | None:
        """Takes an event. Returns what it is folded into; none where it was taken before as it is."""
        of = event.get("involvedObject") or {}
        object = (of.get(name) for name in ("kind", "namespace", "name", "uid"))
        key = tuple(map(str, (*object, event.get("type"), event.get("reason"))))
        same, name = self._events.setdefault(key, {}), event["metadata"]["name"]
        if name in same and _moments(same[name]) == _moments(event):
            return None
        same[name] = event
        return _folded(same.values())

    def told(self) -> list[EventLine]:
        """Returns everything, the last at the end."""
        folded = [_folded(one.values()) for one in self._events.values()]
        return sorted(folded, key=lambda one: (one.last or 0.0, one.first or 0.0, one.namespace, one.kind, one.name, one.reason))


def fold(events: Iterable[Manifest]) -> list[EventLine]:
    """Returns events that were read once, folded and in order."""
    folding = Fold()
    for one in events:
        folding.add(one)
    return folding.told()


def _folded(events: Collection[Manifest]) -> EventLine:
    last = max(events, key=lambda one: (_moments(one)[1] or 0.0, one["metadata"]["name"]))
    of = last.get("involvedObject") or {}
    times = [moment for one in events for moment in _moments(one)[:2] if moment is not None]
    return EventLine(
        str(last["metadata"].get("namespace") or ""),
        str(of.get("kind") or ""),
        str(of.get("name") or ""),
        str(last.get("type") or ""),
        str(last.get("reason") or ""),
        str(last.get("message") or ""),
        sum(_moments(one)[2] for one in events),
        min(times, default=None),
        max(times, default=None),
    )


def _moments(event: Manifest) -> tuple[float | None, float | None, int]:
    """Returns when it was told first and last, and how often."""
    born = event.get("eventTime") or event["metadata"].get("creationTimestamp")
    first, last = (_time(event.get(name) or born) for name in ("firstTimestamp", "lastTimestamp"))
    count = event.get("count")
    return first if first is not None else last, last, count if isinstance(count, int) and count > 0 else 1


def _time(text: object) -> float | None:
    """Returns the moment, or none for what a file has in its place."""
    try:
        return time(str(text)) if text else None
    except ValueError:
        return None


def _teller(event: Manifest) -> str:
    return str((event.get("source") or {}).get("component") or event.get("reportingComponent") or "")


def _set_of(name: str, sets: Iterable[str]) -> str:
    """Returns the set that a part is called after: of several that it may be, the one with the longest name."""
    return max((one for one in sets if replica_of(name, one) is not None), key=len, default="")
