"""Reads a set with the objects that tell its history: parts, pods, revisions and events."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence

from applier.cluster import Cluster
from applier.ref import EVENT, Manifest, uid_of
from grove_cli.queries.events_query import set_of, time_in
from grove_cli.queries.tree_query import find_set, list_readable, read_set
from grove_compiler.decoder import SET_KIND
from grove_compiler.labels import PART_OF
from grove_compiler.record import record
from kube_objects.manifest import labels_of, mapping

PARTS = (
    ("grove.io", "PodClique"),
    ("grove.io", "PodCliqueScalingGroup"),
    ("scheduler.grove.io", "PodGang"),
    ("", "Pod"),
    ("apps", "ControllerRevision"),
)
OTHERS = (("grove.io", SET_KIND), ("", EVENT.kind))
"""Kinds without the label of the set. The names of all sets tell the parts of `chat-0` from those of `chat`."""
OF_PODS = ("Preempted", "Evicted", "TaintManagerEviction", "NodeNotReady", "OOMKilling")
"""Reasons of events about pods that belong to the history of a set; most others only say how a pod starts."""


@record
class TimelineObjects:
    """A set, its parts by kind, and the events about it and them, also about former parts. `unread` are kinds that could not be read."""

    set: Manifest
    parts: dict[str, list[Manifest]]
    events: Sequence[Manifest]
    unread: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The name of the set."""
        return str(self.set["metadata"]["name"])


async def read_objects(cluster: Cluster, argument: str, namespace: str) -> TimelineObjects:
    """Reads the set `NAME` or `pcs/NAME`. Raises `ClusterError`, `NoSuchObject`."""
    _, pcs = await read_set(cluster, argument, namespace)
    resources = await cluster.resources()
    parts, others = ([(each, namespace) for each in resources if (each.kind.group, each.kind.kind) in kinds] for kinds in (PARTS, OTHERS))
    (own, first), (other, second) = await asyncio.gather(
        list_readable(cluster, parts, f"{PART_OF}={pcs['metadata']['name']}"), list_readable(cluster, others)
    )
    return _select(pcs, [*own, *other], [*first, *second])


def objects_in(objects: Sequence[Manifest], argument: str, namespace: str) -> TimelineObjects:
    """Returns the set and its objects among recorded ones. Raises `NoSuchObject`."""
    return _select(find_set(argument, namespace, objects), objects)


def _select(pcs: Manifest, objects: Sequence[Manifest], unread: Sequence[str] = ()) -> TimelineObjects:
    metadata = pcs["metadata"]
    local = [each for each in objects if each["metadata"].get("namespace") == metadata.get("namespace")]
    parts: dict[str, list[Manifest]] = defaultdict(list)
    for each in local:
        if labels_of(each).get(PART_OF) == metadata["name"]:
            parts[each["kind"]].append(each)
    sets = {str(metadata["name"]), *(each["metadata"]["name"] for each in local if each["kind"] == SET_KIND)}
    events = [each for each in local if each["kind"] == EVENT.kind and _is_about(each, pcs, sets)]
    return TimelineObjects(pcs, parts, events, unread)


def _is_about(event: Manifest, pcs: Manifest, sets: set[str]) -> bool:
    """Returns whether an event is about the set or a part. By name, since former parts belong to the history; former sets do not."""
    about = mapping(event.get("involvedObject"))
    name, of = str(about.get("name")), pcs["metadata"]
    if about.get("kind") == SET_KIND:
        return bool(name == of["name"] and about.get("uid") in (None, "", uid_of(pcs)))
    return set_of(name, sets) == str(of["name"])


def time_of(event: Manifest) -> float | None:
    """Returns when an event happened last."""
    metadata = event["metadata"]
    candidates = (event.get("lastTimestamp"), event.get("eventTime"), event.get("firstTimestamp"), metadata.get("creationTimestamp"))
    return next((at for each in candidates if (at := time_in(each)) is not None), None)


def told(events: Iterable[Manifest]) -> list[Manifest]:
    """Returns the events that are entries of the history: those about pods only where they say why one was taken away."""
    return [event for event in events if event["involvedObject"].get("kind") != "Pod" or event.get("reason") in OF_PODS]
