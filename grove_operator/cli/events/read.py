"""Reads the events of a cluster or a file, once or as they come."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import aclosing

from applier.cluster import Cluster, Listing
from applier.ref import Kind, Manifest
from applier.reflector import list_and_watch
from grove_compiler.decoder import SET_KIND
from grove_compiler.record import record
from grove_operator.cli import output as outputs
from grove_operator.cli.events.as_text import Table, event_value
from grove_operator.cluster.events_query import CLUSTER_WIDE, About, EventLine, Fold, about, fold
from grove_operator.cluster.tree_query import find_kind
from grove_operator.terminal import terminal_of

EVENT = Kind("", "v1", "Event")
OF_CLUSTER_WIDE = "default"
"""The namespace of events about what has none."""


@record
class EventQuery:
    """Which events are wanted, and of which namespace; of all where it is empty."""

    about: About
    namespace: str


async def event_query(cluster: Cluster, words: str, namespace: str, types: Collection[str]) -> EventQuery:
    """Returns what a command line asks for. Raises `ClusterError`, `NoSuchObject`."""
    if not words:
        return EventQuery(About(types=types), namespace)
    kind, name = about(words)
    if kind in CLUSTER_WIDE:
        return EventQuery(About(kind, name, types=types), OF_CLUSTER_WIDE)
    sets: Sequence[Manifest] = ()
    if kind == SET_KIND:
        sets = (await cluster.list(find_kind(await cluster.resources(), SET_KIND), namespace)).items
    return EventQuery(About(kind, name, [one["metadata"]["name"] for one in sets], types), namespace)


async def read_events(cluster: Cluster, asked: EventQuery) -> list[EventLine]:
    """Reads events once. Raises `ClusterError`."""
    found = await cluster.list(await cluster.resource(EVENT), asked.namespace)
    return fold(one for one in found.items if asked.about.takes(one))


def events_in(objects: Sequence[Manifest], words: str, namespace: str, types: Collection[str]) -> list[EventLine]:
    """Finds events among recorded objects. Raises `NoSuchObject`."""
    kind, name = about(words) if words else ("", "")
    sets = [one["metadata"]["name"] for one in objects if one["kind"] == SET_KIND]
    wanted = About(kind, name, sets, types)
    place = OF_CLUSTER_WIDE if kind in CLUSTER_WIDE else namespace
    events = (one for one in objects if one["kind"] == EVENT.kind and place in ("", one["metadata"].get("namespace")))
    return fold(one for one in events if wanted.takes(one))


async def follow(cluster: Cluster, asked: EventQuery, output: str) -> int:
    """Prints what there is and then what comes, each as a line of the table, or of JSON, until it is interrupted. Raises `ClusterError`."""
    folding, table, terminal = Fold(), None, terminal_of(sys.stdout)
    async with aclosing(list_and_watch(cluster, await cluster.resource(EVENT), asked.namespace)) as news:
        async for one in news:
            items = one.items if isinstance(one, Listing) else [one.object] if one.type in ("ADDED", "MODIFIED") else []
            told = [folded for item in items if asked.about.takes(item) and (folded := folding.add(item)) is not None]
            now = time.time()
            if table is None:  # the first list
                told = folding.told()
                table = Table(told, now, with_namespaces=not asked.namespace)
                if output != "json":
                    outputs.write([outputs.encoded(table.head(terminal))])
            lines = (json.dumps(event_value(each)) + "\n" if output == "json" else table.line(each, now, terminal) for each in told)
            outputs.write(map(outputs.encoded, lines))
    return 0
