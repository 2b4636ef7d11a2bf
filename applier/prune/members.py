"""Finds the members of a set, the objects with its label of the kinds and in the namespaces of its record, and what goes with them.

To the server the delete of a namespace or of a definition is one. To people it is everything that others have created there, so that is
listed and counted before.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from applier.cluster import Cluster, Resource
from applier.errors import ClusterError, Forbidden, UnknownKind
from applier.plan.membership import set_of
from applier.prune.applyset import ApplySet, ApplySetError, ApplySetScope
from applier.ref import DEFINITION, NAMESPACE, GroupKind, Kind, Manifest, Ref, owner_uids, uid_of
from kube_objects.manifest import group_of
from kube_objects.words import listed

AT_ONCE = 16  # lists in flight
FEW = 3  # up to this many namespaces are listed individually; for more, a list of all namespaces is tried first

API_SERVICE = Kind("apiregistration.k8s.io", "v1", "APIService")


class Members(NamedTuple):
    """Holds the live members, and the kinds of the record that the server does not serve now but may serve again."""

    objects: list[Manifest]
    unserved: frozenset[GroupKind]


async def find_members(applyset: ApplySet, scope: ApplySetScope, cluster: Cluster) -> Members:
    """Lists the members. Raises `ApplySetError`, with all reasons, when one of the lists fails."""
    served = await _served(scope.kinds, cluster)
    unserved = scope.kinds - served.keys()
    if unserved:
        unserved &= await _may_come_back(unserved, cluster)
    semaphore = asyncio.Semaphore(AT_ONCE)

    async def listed(kind: GroupKind) -> list[Manifest]:
        return await _listed(served[kind], scope.namespaces, applyset.selector, cluster, semaphore)

    lists = await asyncio.gather(*(listed(kind) for kind in sorted(scope.kinds & served.keys())), return_exceptions=True)
    # One failed list makes the whole set unknown: its members would be dropped from the record, and never be found again.
    if reasons := [str(result) for result in lists if isinstance(result, ClusterError)]:
        raise ApplySetError("; ".join(dict.fromkeys(reasons)))
    objects = [manifest for result in lists for manifest in _or_raise(result) if set_of(manifest) == applyset.id]
    return Members(objects, unserved)


async def _served(kinds: Collection[GroupKind], cluster: Cluster) -> dict[GroupKind, Resource]:
    """Returns the resources of the kinds that are served. Cached discovery is refreshed before a kind counts as not served."""
    if not kinds:
        return {}
    served: dict[GroupKind, Resource] = {}
    for fresh in (False, True):
        served = {(one.kind.group, one.kind.kind): one for one in await cluster.resources(fresh=fresh)}
        if served.keys() >= set(kinds):
            break
    return {kind: served[kind] for kind in kinds if kind in served}


def _or_raise(result: list[Manifest] | BaseException) -> list[Manifest]:
    if isinstance(result, BaseException):
        raise result
    return result


async def _listed(
    resource: Resource, namespaces: Collection[str], selector: str, cluster: Cluster, semaphore: asyncio.Semaphore
) -> list[Manifest]:
    """Returns the objects of one kind that match the selector, in these namespaces if the kind is namespaced."""

    async def list_in(namespace: str) -> list[Manifest]:
        async with semaphore:
            return (await cluster.list(resource, namespace, labels=selector)).items

    if not resource.namespaced:
        return await list_in("")
    if len(namespaces) > FEW:
        try:
            return [manifest for manifest in await list_in("") if Ref.of(manifest).namespace in namespaces]
        except Forbidden:  # a role in each namespace is enough
            pass
    return [manifest for manifests in await asyncio.gather(*map(list_in, sorted(namespaces))) for manifest in manifests]


async def _may_come_back(kinds: Collection[GroupKind], cluster: Cluster) -> set[GroupKind]:
    """Returns the unknown kinds that are only unavailable: an aggregated API server that does not answer serves their group.

    All other unknown kinds are gone with their definitions, and their objects with them. When APIServices cannot be read, every kind may
    come back: the record then names too much rather than too little.
    """
    try:
        services = (await cluster.list(await cluster.resource(API_SERVICE))).items
    except (Forbidden, UnknownKind):
        return set(kinds)
    silent = {service["spec"].get("group", "") for service in services if service["spec"].get("service") and not _available(service)}
    return {kind for kind in kinds if kind[0] in silent}


def _available(service: Manifest) -> bool:
    conditions = (service.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == "Available" and condition["status"] == "True" for condition in conditions)


def dependents(objects: Iterable[Manifest], owners: Collection[Ref]) -> set[Ref]:
    """Returns the objects that belong to one of the owners, directly or through others of the objects."""
    by_owner = defaultdict[Ref, list[Ref]](list)
    for one in objects:
        ref = Ref.of(one)
        for owner in one["metadata"].get("ownerReferences") or ():
            by_owner[Ref(group_of(owner["apiVersion"]), owner["kind"], ref.namespace, owner["name"])].append(ref)
    found, pending = set[Ref](), list(owners)
    while pending:
        for ref in by_owner.get(pending.pop(), ()):
            if ref not in found:
                found.add(ref)
                pending.append(ref)
    return found


def orphans(members: Iterable[Manifest], parent: Ref, desired: Collection[Ref]) -> list[Manifest]:
    """Returns the members that are not among the desired objects.

    An object may be listed under two kinds (Events are); the run spares by UID what it has applied.
    """
    return [member for member in members if (ref := Ref.of(member)) not in desired and ref != parent]


TELLING_NOTHING = {("", "Event"), ("events.k8s.io", "Event"), ("", "Endpoints")}
"""Kinds whose objects only describe other objects, and are not missed when those are gone."""
IN_EVERY_NAMESPACE = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}
"""What Kubernetes itself puts into a namespace."""


class TakenAlong(NamedTuple):
    """Holds objects of others by UID, and the errors of kinds that we may not list. `seen` are all UIDs that were read."""

    objects: dict[str, Ref]
    unreadable: tuple[str, ...]
    seen: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.objects or self.unreadable)

    def __or__(self, other: object) -> TakenAlong:
        """Returns the union of both."""
        if not isinstance(other, TakenAlong):
            return NotImplemented
        return TakenAlong(self.objects | other.objects, (*self.unreadable, *other.unreadable), self.seen | other.seen)

    def __str__(self) -> str:
        """Returns `2 objects that are not of the set: Pod/a/b, Pod/a/c`."""
        count = len(self.objects)
        are = f"{count} objects that are" if count != 1 else "1 object that is"
        named = [f"{are} not in the ApplySet: {listed(map(str, self.objects.values()))}"] if count else []
        hidden = [f"objects that cannot be listed for lack of permission ({listed(self.unreadable)})"] if self.unreadable else []
        return " and ".join(named + hidden)

    def identities(self) -> list[str]:
        """Returns what an approval covers: UIDs, and errors of kinds that could not be listed."""
        return [*self.objects, *self.unreadable]


NOTHING = TakenAlong({}, (), frozenset())


def takes_others(ref: Ref) -> bool:
    """Reports whether deleting this object may delete others: it is a Namespace or a CustomResourceDefinition."""
    return ref[:2] in (NAMESPACE, DEFINITION)


async def taken_along(going: Iterable[Manifest], cluster: Cluster, ours: Collection[str]) -> TakenAlong:
    """Returns what would be deleted with these live objects, without objects with UIDs in `ours` and objects that those own.

    Raises `ClusterError` for any error but missing permission.
    """
    taken = NOTHING
    for manifest in going:
        ref = Ref.of(manifest)
        if ref[:2] == NAMESPACE:
            served = [one for one in await cluster.resources(fresh=True) if _holds_objects(one)]
            taken |= await _others_in(served, ref.name, cluster, ours)
        elif ref[:2] == DEFINITION:
            taken |= await _others_in(await _defined(manifest, cluster), "", cluster, ours)
    return taken


def _holds_objects(resource: Resource) -> bool:
    """Reports whether the namespace controller deletes objects of this kind. Kinds without the verb `delete` are views of others."""
    writable = not resource.verbs or {"list", "delete"} <= resource.verbs
    return resource.namespaced and writable and (resource.kind.group, resource.kind.kind) not in TELLING_NOTHING


async def _defined(definition: Manifest, cluster: Cluster) -> list[Resource]:
    spec = definition.get("spec") or {}
    kind = str((spec.get("names") or {}).get("kind", ""))
    for version in spec.get("versions") or ():
        if version.get("served"):
            try:
                return [await cluster.resource(Kind(str(spec.get("group", "")), str(version.get("name")), kind))]
            except UnknownKind:
                continue
    return []  # not served, so it has no objects


async def _others_in(resources: Iterable[Resource], namespace: str, cluster: Cluster, ours: Collection[str]) -> TakenAlong:
    semaphore = asyncio.Semaphore(AT_ONCE)
    unreadable: list[str] = []

    async def list_kind(resource: Resource) -> list[Manifest]:
        async with semaphore:
            try:
                return (await cluster.list(resource, namespace)).items
            except UnknownKind:  # its definition went meanwhile
                return []
            except Forbidden as error:
                unreadable.append(str(error))
                return []

    lists = await asyncio.gather(*map(list_kind, resources))
    objects = [manifest for listed in lists for manifest in listed]
    seen = frozenset(map(uid_of, objects))
    known = seen.union(ours)
    # An object whose owner is listed or deleted anyway is not listed itself.
    roots = {
        uid_of(manifest): Ref.of(manifest)
        for manifest in objects
        if uid_of(manifest) not in ours and not owner_uids(manifest) & known and not _of_kubernetes(manifest)
    }
    return TakenAlong(roots, tuple(sorted(unreadable)), seen)


def _of_kubernetes(manifest: Manifest) -> bool:
    ref = Ref.of(manifest)
    return ref.group == "" and (ref.kind, ref.name) in IN_EVERY_NAMESPACE
