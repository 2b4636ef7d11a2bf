"""Reads objects of one kind: all of a namespace, those with labels, or those with names."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from applier.cluster import Cluster, Resource, find
from applier.ref import Manifest
from grove_cli.queries.tree_query import NoSuchObject, find_kind, served_kinds, split_argument
from grove_compiler.record import record
from kube_objects.manifest import namespaced_name


@record
class ListQuery:
    """The objects to read. An empty `namespace` stands for all; `names`, which may be `KIND/NAME`, take the place of `labels`."""

    kind: str
    namespace: str
    names: Sequence[str] = ()
    labels: str = ""


@record
class Found:
    """The objects in the order of their namespaces and names, or of the names that were given, and what does not exist of the latter.

    `beside` are the objects of other kinds in the same namespace, by kind; `kinds` are all resources that were read.
    """

    objects: list[Manifest]
    missing: list[str]
    beside: Mapping[str, Sequence[Manifest]]
    kinds: Sequence[Resource]


async def read_list(cluster: Cluster, query: ListQuery, beside: Sequence[str] = ()) -> Found:
    """Reads objects, and with them all objects of the kinds `beside`. Raises `ClusterError`, `NoSuchObject`."""
    [resource, *others], resources = await served_kinds(cluster, query.kind, *beside)
    names = [_name(name, resource, resources) for name in query.names]
    reading = _named(cluster, resource, query.namespace, names) if names else _all(cluster, resource, query)
    (found, missing), lists = await asyncio.gather(reading, asyncio.gather(*(cluster.list(other, query.namespace) for other in others)))
    return Found(found, missing, {kind: each.items for kind, each in zip(beside, lists, strict=True)}, [resource, *others])


def not_found(resource: Resource, name: str) -> str:
    """Returns what kubectl says of an object that does not exist."""
    return f'Error from server (NotFound): {resource.name} "{name}" not found'


def _name(argument: str, resource: Resource, resources: Sequence[Resource]) -> str:
    """Returns the name of an argument `NAME` or `KIND/NAME`. Raises `NoSuchObject` for another kind."""
    word, name = split_argument(argument)
    if word and find_kind(resources, word).kind != resource.kind:
        raise NoSuchObject(f"{argument!r} is not a {resource.kind.kind}")
    return name


async def _named(cluster: Cluster, resource: Resource, namespace: str, names: Sequence[str]) -> tuple[list[Manifest], list[str]]:
    read = await asyncio.gather(*(find(cluster, resource, namespace, name) for name in names))
    missing = [not_found(resource, name) for name, manifest in zip(names, read, strict=True) if manifest is None]
    return [manifest for manifest in read if manifest is not None], missing


async def _all(cluster: Cluster, resource: Resource, query: ListQuery) -> tuple[list[Manifest], list[str]]:
    found = (await cluster.list(resource, query.namespace, labels=query.labels)).items
    return sorted(found, key=namespaced_name), []
