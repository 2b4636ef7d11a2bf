"""Reads a set with the objects from which its use is added up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from applier.cluster import Cluster
from applier.ref import Manifest
from grove_cli.queries.one_set import read_set
from grove_cli.queries.tree_query import NoSuchObject, check_name, list_readable
from grove_cli.queries.usage import METRICS
from grove_cli.queries.why_query import find
from grove_compiler.decoder import SET_KIND
from grove_compiler.gangs.gang import read_gang
from grove_compiler.labels import PART_OF
from grove_compiler.record import record

LABELLED = (("scheduler.grove.io", "PodGang"), ("", "Pod"), ("grove.io", "PodClique"))
"""Kinds of which only a set's own objects are read; a set without them cannot be told about."""
OPTIONAL = (
    ("resource.nvidia.com", "ComputeDomain"),
    ("resource.k8s.io", "ResourceClaimTemplate"),
    ("resource.k8s.io", "ResourceClaim"),
    (METRICS, "PodMetrics"),
)
"""Kinds that a server need not serve. The labels of a set are on none of them for sure."""


@record
class UsageObjects:
    """A set, the objects of its namespace and the nodes, and the kinds that could not be read, with the reason."""

    set: Manifest
    objects: list[Manifest]
    unread: list[str]


async def read_usage(cluster: Cluster, argument: str, namespace: str) -> UsageObjects:
    """Reads the set `NAME` or `pcs/NAME`. Raises `ClusterError`, `NoSuchObject`."""
    _, pcs = await read_set(cluster, argument, namespace)
    name, served = pcs["metadata"]["name"], {(resource.kind.group, resource.kind.kind): resource for resource in await cluster.resources()}
    labelled = [served[group_kind] for group_kind in LABELLED if group_kind in served]
    lists = await asyncio.gather(*(cluster.list(resource, namespace, labels=f"{PART_OF}={name}") for resource in labelled))
    objects = [each for listing in lists for each in listing.items]
    wanted = [served[group_kind] for group_kind in OPTIONAL if group_kind in served]
    if ("", "Node") in served and _is_constrained(objects):
        wanted.append(served["", "Node"])
    more, unread = await list_readable(cluster, [(resource, namespace if resource.namespaced else "") for resource in wanted])
    return UsageObjects(pcs, objects + more, unread)


def recorded_usage(argument: str, namespace: str, objects: Sequence[Manifest]) -> UsageObjects:
    """Returns the set and the objects among recorded ones. Raises `NoSuchObject`."""
    pcs, _ = find(_name(argument), namespace, objects)
    return UsageObjects(pcs, list(objects), [])


def _name(argument: str) -> str:
    word, _, name = argument.rpartition("/")
    check_name(name, argument)
    if word.lower().partition(".")[0] not in ("", "pcs", "podcliqueset", "podcliquesets"):
        raise NoSuchObject(f"{argument!r} is not a {SET_KIND}: expected its name")
    return name


def _is_constrained(objects: Iterable[Manifest]) -> bool:
    """Reports whether a gang has a topology constraint, for which the labels of nodes matter."""
    gangs = (read_gang(each) for each in objects if each["kind"] == "PodGang")
    return any(level.required or level.preferred for gang in gangs for level in gang.levels)
