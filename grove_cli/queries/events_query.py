"""Selects the events of the operator, and aggregates them by object and reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from applier.ref import Manifest
from grove_cli.queries.tree_query import parse_object
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.timestamp import time
from grove_compiler.model.names import replica_of
from grove_compiler.record import record
from grove_operator import field_managers
from kube_objects.manifest import namespace_of

CLUSTER_WIDE = ("ClusterTopology", "ClusterTopologyBinding")
"""Cluster-scoped kinds, whose events are in the namespace `default`."""
KINDS = (SET_KIND, "PodCliqueScalingGroup", "PodClique", "PodGang", "Pod", "ComputeDomain", *CLUSTER_WIDE)
"""The kinds that the operator records events on."""


@record
class EventLine:
    """The events of one reason about an object. Times are in seconds since the epoch; `message` is that of the last event."""

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
class EventFilter:
    """Selects events of one object, or of a set with all of its parts; of all objects without a `name`.

    `sets` are the names of all sets of the namespace, by which the parts of `chat-0` are told from those of `chat`. `types` are some of
    Normal and Warning; empty for both.
    """

    kind: str = ""
    name: str = ""
    sets: Collection[str] = ()
    types: Collection[str] = ()

    def matches(self, event: Manifest) -> bool:
        """Returns whether an event is by the operator, and selected."""
        if _reporter(event) != field_managers.OPERATOR or (self.types and event.get("type") not in self.types):
            return False
        of = event.get("involvedObject") or {}
        kind, name = str(of.get("kind")), str(of.get("name"))
        if not self.name or (kind, name) == (self.kind, self.name):
            return True
        return self.kind == SET_KIND and kind not in (SET_KIND, *CLUSTER_WIDE) and set_of(name, {*self.sets, self.name}) == self.name


def event_subject(argument: str) -> tuple[str, str]:
    """Returns the kind and name of an argument `NAME` or `KIND/NAME`. Raises `NoSuchObject`."""
    return parse_object(argument, KINDS, "the operator records events on")


class EventAggregation:
    """Aggregates events by object and reason. An update of an event, with another count, replaces it."""

    def __init__(self) -> None:
        self._events: dict[tuple[str, ...], dict[str, Manifest]] = {}

    def add(self, event: Manifest) -> EventLine | None:
        """Adds an event. Returns the aggregate that it belongs to; none if the event has not changed since it was added."""
        of = event.get("involvedObject") or {}
        reference = (of.get(name) for name in ("kind", "namespace", "name", "uid"))
        key = tuple(map(str, (*reference, event.get("type"), event.get("reason"))))
        same, name = self._events.setdefault(key, {}), event["metadata"]["name"]
        if name in same and _occurrences(same[name]) == _occurrences(event):
            return None
        same[name] = event
        return _aggregate(same.values())

    def lines(self) -> list[EventLine]:
        """Returns all aggregates by time."""
        aggregates = [_aggregate(events.values()) for events in self._events.values()]
        return sorted(aggregates, key=lambda each: (each.last or 0.0, each.first or 0.0, each.namespace, each.kind, each.name, each.reason))


def aggregated(events: Iterable[Manifest]) -> list[EventLine]:
    """Returns events aggregated and by time."""
    aggregation = EventAggregation()
    for event in events:
        aggregation.add(event)
    return aggregation.lines()


def _aggregate(events: Collection[Manifest]) -> EventLine:
    last = max(events, key=lambda event: (_occurrences(event)[1] or 0.0, event["metadata"]["name"]))
    of = last.get("involvedObject") or {}
    times = [moment for event in events for moment in _occurrences(event)[:2] if moment is not None]
    return EventLine(
        namespace_of(last),
        str(of.get("kind") or ""),
        str(of.get("name") or ""),
        str(last.get("type") or ""),
        str(last.get("reason") or ""),
        str(last.get("message") or ""),
        sum(_occurrences(event)[2] for event in events),
        min(times, default=None),
        max(times, default=None),
    )


def _occurrences(event: Manifest) -> tuple[float | None, float | None, int]:
    """Returns the first and last time of an event, and its count."""
    created = event.get("eventTime") or event["metadata"].get("creationTimestamp")
    first, last = (time_in(event.get(name) or created) for name in ("firstTimestamp", "lastTimestamp"))
    count = event.get("count")
    return first if first is not None else last, last, count if isinstance(count, int) and count > 0 else 1


def _reporter(event: Manifest) -> str:
    return str((event.get("source") or {}).get("component") or event.get("reportingComponent") or "")


def set_of(name: str, sets: Iterable[str]) -> str:
    """Returns the set whose name prefixes that of a part; of several, the one with the longest name."""
    return max((pcs for pcs in sets if replica_of(name, pcs) is not None), key=len, default="")


def time_in(text: object) -> float | None:
    """Returns seconds since the epoch; none without a time, and for a malformed one, as a file may have."""
    try:
        return time(str(text)) if text else None
    except ValueError:
        return None
