"""Reads what an argument of a command line names: an object with the tree that it owns, a set, or an object among recorded ones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from applier.cluster import Cluster, Resource
from applier.errors import ApplierError, ClusterError, Forbidden, NotFound
from applier.ref import Manifest
from grove_cli.queries.tree import Branch, grow
from grove_cli.short_names import SHORT_NAMES, means_kind
from grove_compiler.decoder import SET_KIND
from grove_compiler.labels import PART_OF
from grove_compiler.record import record
from kube_objects.manifest import labels_of, namespace_of
from kube_objects.words import listed

OMITTED = {"Event"}
"""Kinds that are not listed: events are many and own nothing."""
FEW = 3
"""Forbidden kinds up to which each is told with the rule that would allow it."""


class NoSuchObject(ApplierError):
    """An argument names no object of a known kind."""


class NotThere(NoSuchObject):
    """The object does not exist, although the server serves its kind."""


@record
class Forest:
    """A tree, the resources that were listed for it, and the errors of those that could not be listed."""

    top: Branch
    kinds: Sequence[Resource]
    unread: Sequence[str] = ()


async def read_tree(cluster: Cluster, argument: str, namespace: str) -> Forest:
    """Reads the tree of `NAME`, a PodCliqueSet, or of `KIND/NAME`, with kinds as in kubectl.

    Raises `ClusterError`, `NoSuchObject`.
    """
    word, name = split_argument(argument)
    [resource], resources = await served_kinds(cluster, word or SET_KIND)
    place = namespace if resource.namespaced else ""
    root = await _read(cluster, resource, place, name)
    kinds = [each for each in resources if _may_own(resource, each)]
    objects, unread = await list_readable(cluster, [(each, place) for each in kinds])
    return Forest(grow(root, objects), kinds, unread)


async def _read(cluster: Cluster, resource: Resource, namespace: str, name: str) -> Manifest:
    try:
        return await cluster.get(resource, namespace, name)
    except NotFound:
        where = f" in the namespace {namespace}" if namespace else ""
        raise NotThere(f"there is no {resource.kind.kind} {name!r}{where}") from None


def split_argument(argument: str) -> tuple[str, str]:
    """Returns the parts of an argument `NAME` or `KIND/NAME`; the kind, which may be any word, is empty in the first.

    Raises `NoSuchObject` for names that would change the path of a request.
    """
    word, _, name = argument.rpartition("/")
    if name in ("", ".", "..") or "%" in name:
        raise NoSuchObject(f"{argument!r} is not an object: expected NAME or KIND/NAME")
    return word, name


def parse_object(argument: str, kinds: Sequence[str], what: str) -> tuple[str, str]:
    """Returns the kind and name of an argument `NAME`, of a set, or `KIND/NAME`, with kinds, plurals and short names in any case.

    Raises `NoSuchObject` for a kind that is not one of `kinds`, of which `what` says the rest.
    """
    word, name = split_argument(argument)
    for kind in kinds:
        if means_kind(word or SET_KIND, kind):
            return kind, name
    raise NoSuchObject(f"{word!r} is not a kind that {what}: expected one of {', '.join(kinds)}")


async def served_kinds(cluster: Cluster, *words: str) -> tuple[list[Resource], list[Resource]]:
    """Returns the resources of some kinds (see `find_kind`), and all that the server serves. Raises `ClusterError`, `NoSuchObject`.

    Before a kind counts as not served the server is asked again: its definition may have been created since.
    """
    resources = await cluster.resources()
    try:
        return [find_kind(resources, word) for word in words], resources
    except NoSuchObject:
        resources = await cluster.resources(fresh=True)
        return [find_kind(resources, word) for word in words], resources


def find_kind(resources: Iterable[Resource], word: str) -> Resource:
    """Returns the resource of a kind, plural or short name, in any case, with or without its group. Raises `NoSuchObject`."""
    name, _, group = word.partition(".")
    lowered = SHORT_NAMES.get(name.lower(), name).lower()
    for resource in resources:
        names = (resource.kind.kind.lower(), resource.plural)
        if lowered in names and (not group or resource.kind.group == group):
            return resource
    raise not_served(SHORT_NAMES.get(name.lower(), word))


def not_served(kind: str) -> NoSuchObject:
    """Returns the error for a kind that the server does not serve; for one of Grove's it says how to install them."""
    hint = "; Grove's CRDs are not installed: grove crds | kubectl apply --server-side -f -" if kind.lower().startswith("podclique") else ""
    return NoSuchObject(f"the server has no kind {kind!r}{hint}")


def _may_own(root: Resource, resource: Resource) -> bool:
    listable = "list" in resource.verbs or not resource.verbs
    return listable and resource.kind.kind not in OMITTED and (resource.namespaced or not root.namespaced)


async def list_readable(cluster: Cluster, places: Sequence[tuple[Resource, str]], labels: str = "") -> tuple[list[Manifest], list[str]]:
    """Lists kinds in namespaces concurrently, and returns the objects, with the kinds that cannot be read and why.

    Many that are forbidden, as to people with rights to a few kinds, are one entry.
    """
    reads = (cluster.list(resource, namespace, labels=labels) for resource, namespace in places)
    lists = await asyncio.gather(*reads, return_exceptions=True)
    objects: list[Manifest] = []
    unread: list[str] = []
    forbidden = [str(resource.kind.group_kind) for (resource, _), part in zip(places, lists, strict=True) if isinstance(part, Forbidden)]
    is_one = len(forbidden) > FEW
    for (resource, _), part in zip(places, lists, strict=True):
        if isinstance(part, Forbidden) and is_one:
            continue
        if isinstance(part, ClusterError):
            unread.append(f"{resource.kind.group_kind}: {part}")
        elif isinstance(part, BaseException):
            raise part
        else:
            objects += part.items
    return objects, [*unread, f"{listed(forbidden)}: you may not list these"] if is_one else unread


async def read_set(cluster: Cluster, argument: str, namespace: str) -> tuple[Resource, Manifest]:
    """Reads the set `NAME` or `pcs/NAME`, and its resource. Raises `ClusterError`, `NoSuchObject`."""
    word, name = split_argument(argument)
    [resource], _ = await served_kinds(cluster, word or SET_KIND)
    if resource.kind.kind != SET_KIND:
        raise NoSuchObject(f"{argument!r} is not a {SET_KIND}: expected its name")
    return resource, await _read(cluster, resource, namespace, name)


def is_training(pcs: Manifest) -> bool:
    """Reports whether a set is a training workload."""
    return (pcs.get("spec") or {}).get("workloadType") == "Training"


class EditRefused(ApplierError):
    """An edit does not apply to the state of the set. The message has the alternative."""


KINDS = ("PodCliqueSet", "PodCliqueScalingGroup", "PodClique", "PodGang", "Pod")
"""The kinds that rules report waits of."""


def find(argument: str, namespace: str, objects: Iterable[Manifest]) -> tuple[Manifest, Manifest]:
    """Returns the object `NAME` or `KIND/NAME`, and its PodCliqueSet. Raises `NoSuchObject`.

    Without a `namespace` the name has to be unique among all namespaces.
    """
    kind, name = parse_object(argument, KINDS, "can wait")
    known = list(objects)
    found = [each for each in _named(known, kind, name) if namespace in ("", each["metadata"].get("namespace"))]
    if not found:
        raise NoSuchObject(f"there is no {kind} {name!r}{f' in the namespace {namespace}' if namespace else ''}")
    if len(found) > 1:
        raise NoSuchObject(f"there are several {kind}s {name!r}: choose one with -n {' or -n '.join(map(namespace_of, found))}")
    [manifest] = found
    set_name = name if kind == SET_KIND else labels_of(manifest).get(PART_OF)
    sets = [pcs for pcs in _named(known, SET_KIND, set_name) if namespace_of(pcs) == namespace_of(manifest)]
    if not sets:
        raise NoSuchObject(f"{kind} {name!r} belongs to no existing PodCliqueSet")
    return manifest, sets[0]


def find_set(argument: str, namespace: str, objects: Iterable[Manifest]) -> Manifest:
    """Returns the set `NAME` or `pcs/NAME` among these objects. Raises `NoSuchObject`."""
    word, name = split_argument(argument)
    if word and not means_kind(word, SET_KIND):
        raise NoSuchObject(f"{argument!r} is not a {SET_KIND}: expected its name")
    return find(name, namespace, objects)[0]


def _named(objects: Sequence[Manifest], kind: str, name: str | None) -> list[Manifest]:
    return [each for each in objects if each["kind"] == kind and each["metadata"]["name"] == name]
