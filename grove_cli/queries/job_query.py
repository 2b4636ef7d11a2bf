"""Reads a training workload with its PodCliques, pods and events."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from applier.cluster import Cluster, Resource
from applier.ref import Kind, Manifest
from grove_cli.queries import one_set
from grove_cli.queries.tree_query import NoSuchObject
from grove_cli.queries.why_query import find
from grove_compiler.decoder import SET_KIND
from grove_compiler.labels import PART_OF
from grove_compiler.record import record

EVENT = Kind("", "v1", "Event")


@record
class RecordedJob:
    """A training workload and its objects. `events` are those about its set and its PodCliques."""

    set: Manifest
    cliques: Sequence[Manifest]
    pods: Sequence[Manifest]
    events: Sequence[Manifest]


async def read_set(cluster: Cluster, argument: str, namespace: str) -> tuple[Resource, Manifest]:
    """Reads the training workload `NAME` or `pcs/NAME`, and its resource. Raises `ClusterError`, `NoSuchObject`."""
    resource, pcs = await one_set.read_set(cluster, argument, namespace)
    return resource, _training(pcs)


async def read_job(cluster: Cluster, argument: str, namespace: str) -> RecordedJob:
    """Reads a workload with its objects. Raises `ClusterError`, `NoSuchObject`."""
    resource, pcs = await read_set(cluster, argument, namespace)
    kinds = [await cluster.resource(kind) for kind in (resource.kind._replace(kind="PodClique"), Kind("", "v1", "Pod"), EVENT)]
    selector = f"{PART_OF}={pcs['metadata']['name']}"
    selectors = (selector, selector, "")
    lists = await asyncio.gather(*(cluster.list(kind, namespace, labels=labels) for kind, labels in zip(kinds, selectors, strict=True)))
    return _select(pcs, [manifest for each in lists for manifest in each.items])


def job_in(objects: Sequence[Manifest], argument: str, namespace: str) -> RecordedJob:
    """Returns a workload of recorded objects. Raises `NoSuchObject`."""
    _, pcs = find(argument, namespace, objects)
    return _select(_training(pcs), objects)


def _select(pcs: Manifest, objects: Sequence[Manifest]) -> RecordedJob:
    metadata = pcs["metadata"]
    namespace = metadata.get("namespace")
    local = [each for each in objects if each["metadata"].get("namespace") == namespace]
    parts = [each for each in local if _label(each, PART_OF) == metadata["name"]]
    cliques, pods = ([part for part in parts if part["kind"] == kind] for kind in ("PodClique", "Pod"))
    # By kind and name, not by UID: events about earlier PodCliques of the same name belong to the history.
    involved = {(each["kind"], each["metadata"]["name"]) for each in (pcs, *cliques)}
    events = [each for each in local if each["kind"] == "Event"]
    return RecordedJob(pcs, cliques, pods, [event for event in events if _subject(event) in involved and _is_of(event, pcs)])


def _training(pcs: Manifest) -> Manifest:
    """Returns the set if it is a training workload. Raises `NoSuchObject`."""
    if not one_set.is_training(pcs):
        raise NoSuchObject(f"{SET_KIND} {pcs['metadata']['name']!r} is not a training workload: its workloadType is not Training")
    return pcs


def _is_of(event: Manifest, pcs: Manifest) -> bool:
    """Returns whether an event is not about an earlier set of the same name."""
    about = event["involvedObject"]
    return about["kind"] != SET_KIND or about.get("uid") in (None, pcs["metadata"].get("uid"))


def _subject(event: Manifest) -> tuple[str, str]:
    about = event.get("involvedObject") or {}
    return str(about.get("kind")), str(about.get("name"))


def _label(manifest: Manifest, name: str) -> str:
    return str((manifest["metadata"].get("labels") or {}).get(name) or "")
