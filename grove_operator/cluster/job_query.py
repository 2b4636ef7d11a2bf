"""Reads a training workload with all that tells of its life: its PodCliques, its pods, and what people were told of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from applier.cluster import Cluster, Resource
from applier.errors import NotFound
from applier.ref import Kind, Manifest
from grove_compiler.decoder import SET_KIND
from grove_compiler.model.inputs.snapshot import PART_OF
from grove_compiler.record import record
from grove_operator.cluster.tree_query import NoSuchObject, NotThere, check_name, find_kind
from grove_operator.cluster.why_query import find

EVENT = Kind("", "v1", "Event")


@record
class RecordedJob:
    """A training workload as it stands. `events` are those about its set and its PodCliques."""

    set: Manifest
    cliques: Sequence[Manifest]
    pods: Sequence[Manifest]
    events: Sequence[Manifest]


async def read_set(cluster: Cluster, words: str, namespace: str) -> tuple[Resource, Manifest]:
    """Reads the training workload that `NAME` or `pcs/NAME` means, and how its kind is served. Raises `ClusterError`, `NoSuchObject`."""
    word, _, name = words.rpartition("/")
    check_name(name, words)
    resource = find_kind(await cluster.resources(), word or SET_KIND)
    if resource.kind.kind != SET_KIND:
        raise NoSuchObject(f"{words!r} is not a training workload: expected the name of a {SET_KIND}")
    try:
        return resource, _training(await cluster.get(resource, namespace, name))
    except NotFound:
        raise NotThere(f"there is no {SET_KIND} {name!r} in the namespace {namespace}") from None


async def read_job(cluster: Cluster, words: str, namespace: str) -> RecordedJob:
    """Reads a workload with what belongs to it. Raises `ClusterError`, `NoSuchObject`."""
    resource, set = await read_set(cluster, words, namespace)
    kinds = [await cluster.resource(kind) for kind in (resource.kind._replace(kind="PodClique"), Kind("", "v1", "Pod"), EVENT)]
    mine = f"{PART_OF}={set['metadata']['name']}"
    labels = (mine, mine, "")
    lists = await asyncio.gather(*(cluster.list(kind, namespace, labels=one) for kind, one in zip(kinds, labels, strict=True)))
    return _among(set, [one for each in lists for one in each.items])


def job_in(objects: Sequence[Manifest], words: str, namespace: str) -> RecordedJob:
    """Finds a workload among recorded objects. Raises `NoSuchObject`."""
    _, set = find(words, namespace, objects)
    return _among(_training(set), objects)


def _among(set: Manifest, objects: Sequence[Manifest]) -> RecordedJob:
    metadata = set["metadata"]
    namespace = metadata.get("namespace")
    mine = [one for one in objects if _label(one, PART_OF) == metadata["name"] and one["metadata"].get("namespace") == namespace]
    cliques, pods = ([one for one in mine if one["kind"] == kind] for kind in ("PodClique", "Pod"))
    # By kind and name: of PodCliques that were made anew, what was told of those before is part of the story.
    about = {(one["kind"], one["metadata"]["name"]) for one in (set, *cliques)}
    events = [one for one in objects if one["kind"] == "Event" and one["metadata"].get("namespace") == namespace]
    return RecordedJob(set, cliques, pods, [one for one in events if _subject(one) in about and _is_of(one, set)])


def _training(set: Manifest) -> Manifest:
    """Returns the set, if it is one that comes to an end. Raises `NoSuchObject`."""
    if (set.get("spec") or {}).get("workloadType") != "Training":
        raise NoSuchObject(
            f"{SET_KIND} {set['metadata']['name']!r} is a service, which runs for ever: only workloadType Training has a life of this kind"
        )
    return set


def _is_of(event: Manifest, set: Manifest) -> bool:
    """Tells whether an event is not one of an older set of the same name."""
    about = event["involvedObject"]
    return about["kind"] != SET_KIND or about.get("uid") in (None, set["metadata"].get("uid"))


def _subject(event: Manifest) -> tuple[str, str]:
    about = event.get("involvedObject") or {}
    return str(about.get("kind")), str(about.get("name"))


def _label(manifest: Manifest, name: str) -> str:
    return str((manifest["metadata"].get("labels") or {}).get(name) or "")
