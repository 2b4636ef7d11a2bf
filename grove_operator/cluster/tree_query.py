"""Reads an object and all that might hang on it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from applier.cluster import Cluster, Resource
from applier.errors import ApplierError, ClusterError, NotFound
from applier.ref import Manifest
from grove_compiler.record import record
from grove_operator.cluster.tree import Branch, grow
from grove_operator.short_names import SHORT_NAMES

DEFAULT_KIND = "PodCliqueSet"
LEFT_OUT = {"Event"}
"""Kinds that are never part of a tree: they are many, and own nothing."""


class NoSuchObject(ApplierError):
    """What a tree was asked for is not there."""


class NotThere(NoSuchObject):
    """The server knows the kind, and has no such object."""


@record
class Forest:
    """A tree, the kinds that were read for it, and what could not be read, one sentence each."""

    top: Branch
    kinds: Sequence[Resource]
    unread: Sequence[str] = ()


async def read_tree(cluster: Cluster, words: str, namespace: str) -> Forest:
    """Reads the tree of `NAME`, which is a PodCliqueSet, or of `KIND/NAME` as kubectl writes kinds.

    Raises `ClusterError`, `NoSuchObject`.
    """
    kind, _, name = words.rpartition("/")
    check_name(name, words)
    resources = await cluster.resources()
    resource = find_kind(resources, kind or DEFAULT_KIND)
    place = namespace if resource.namespaced else ""
    try:
        root = await cluster.get(resource, place, name)
    except NotFound:
        where = f" in the namespace {place}" if place else ""
        raise NotThere(f"there is no {resource.kind.kind} {name!r}{where}") from None
    return await _grown(cluster, root, [one for one in resources if _may_hang_on(one, resource)], place)


def check_name(name: str, words: str) -> None:
    """Refuses what would lead to something else than an object in a path: the list of all, or what stands above. Raises `NoSuchObject`."""
    if name in ("", ".", "..") or "%" in name:
        raise NoSuchObject(f"{words!r} names no object: expected NAME or KIND/NAME")


def find_kind(resources: Iterable[Resource], word: str) -> Resource:
    """Finds the kind that a word means: a kind, a plural, a short name, in any case, with or without its group. Raises `NoSuchObject`."""
    name, _, group = word.partition(".")
    wanted = SHORT_NAMES.get(name.lower(), name).lower()
    for resource in resources:
        names = (resource.kind.kind.lower(), resource.plural)
        if wanted in names and (not group or resource.kind.group == group):
            return resource
    hint = "; our definitions are missing there: grove crds | kubectl apply --server-side -f -" if wanted.startswith("podclique") else ""
    raise NoSuchObject(f"the server has no kind {SHORT_NAMES.get(name.lower(), word)!r}{hint}")


def _may_hang_on(resource: Resource, root: Resource) -> bool:
    listable = "list" in resource.verbs or not resource.verbs
    return listable and resource.kind.kind not in LEFT_OUT and (resource.namespaced or not root.namespaced)


async def _grown(cluster: Cluster, root: Manifest, resources: Sequence[Resource], namespace: str) -> Forest:
    """Lists everything at once; kinds that cannot be read are told, not fatal: what can be seen is worth seeing."""
    found = await asyncio.gather(*(cluster.list(resource, namespace) for resource in resources), return_exceptions=True)
    objects: list[Manifest] = []
    unread: list[str] = []
    for resource, part in zip(resources, found, strict=True):
        if isinstance(part, ClusterError):
            unread.append(f"{resource.kind.group_kind}: {part}")
        elif isinstance(part, BaseException):
            raise part
        else:
            objects += part.items
    return Forest(grow(root, objects), resources, unread)
