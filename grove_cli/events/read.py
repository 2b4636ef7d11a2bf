"""Reads the events of a cluster or a file, and follows new ones."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import aclosing

from applier.cluster import Cluster, Listing
from applier.ref import EVENT, Manifest
from applier.reflector import list_and_watch
from grove_cli import output as outputs
from grove_cli.events.as_text import EventTable, event_value
from grove_cli.queries.events_query import CLUSTER_WIDE, EventAggregation, EventFilter, EventLine, aggregated, event_subject
from grove_cli.queries.tree_query import served_kinds
from grove_cli.terminal import terminal_of
from grove_compiler.decoder import SET_KIND
from grove_compiler.record import record

DEFAULT_NAMESPACE = "default"
"""The namespace of events about cluster-scoped objects."""


@record
class EventQuery:
    """The events to print, of a namespace or of all if it is empty."""

    filter: EventFilter
    namespace: str


async def event_query(cluster: Cluster, argument: str, namespace: str, types: Collection[str]) -> EventQuery:
    """Returns the query of a command line. Raises `ClusterError`, `NoSuchObject`."""
    if not argument:
        return EventQuery(EventFilter(types=types), namespace)
    kind, name = event_subject(argument)
    if kind in CLUSTER_WIDE:
        return EventQuery(EventFilter(kind, name, types=types), DEFAULT_NAMESPACE)
    sets: Sequence[Manifest] = ()
    if kind == SET_KIND:
        [resource], _ = await served_kinds(cluster, SET_KIND)
        sets = (await cluster.list(resource, namespace)).items
    return EventQuery(EventFilter(kind, name, [pcs["metadata"]["name"] for pcs in sets], types), namespace)


async def read_events(cluster: Cluster, query: EventQuery) -> list[EventLine]:
    """Reads events once. Raises `ClusterError`."""
    events = await cluster.list(await cluster.resource(EVENT), query.namespace)
    return aggregated(event for event in events.items if query.filter.matches(event))


def events_in(objects: Sequence[Manifest], argument: str, namespace: str, types: Collection[str]) -> list[EventLine]:
    """Returns the events among recorded objects. Raises `NoSuchObject`."""
    kind, name = event_subject(argument) if argument else ("", "")
    sets = [each["metadata"]["name"] for each in objects if each["kind"] == SET_KIND]
    event_filter = EventFilter(kind, name, sets, types)
    place = DEFAULT_NAMESPACE if kind in CLUSTER_WIDE else namespace
    events = (each for each in objects if each["kind"] == EVENT.kind and place in ("", each["metadata"].get("namespace")))
    return aggregated(event for event in events if event_filter.matches(event))


async def follow(cluster: Cluster, query: EventQuery, output: str) -> int:
    """Prints existing and then new events, as lines of a table or of JSON, until it is interrupted. Raises `ClusterError`."""
    aggregation, table, terminal = EventAggregation(), None, terminal_of(sys.stdout)
    async with aclosing(list_and_watch(cluster, await cluster.resource(EVENT), query.namespace)) as changes:
        async for change in changes:
            items = change.items if isinstance(change, Listing) else [change.object] if change.type in ("ADDED", "MODIFIED") else []
            events = [line for item in items if query.filter.matches(item) and (line := aggregation.add(item)) is not None]
            now = time.time()
            if table is None:  # the first list
                events = aggregation.lines()
                table = EventTable(events, now, with_namespaces=not query.namespace)
                if output != "json":
                    outputs.write_text(table.head(terminal))
            lines = (json.dumps(event_value(each)) + "\n" if output == "json" else table.line(each, now, terminal) for each in events)
            outputs.write(map(outputs.encoded, lines))
    return 0
