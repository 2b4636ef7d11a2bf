"""Finds the members of a set: the objects with its label, of the kinds and in the namespaces of its record."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from applier.cluster import Cluster, Resource
from applier.errors import ClusterError, Forbidden, UnknownKind
from applier.plan.membership import set_of
from applier.prune.applyset import ApplySet, ApplySetError, ApplySetScope
from applier.ref import GroupKind, Kind, Manifest, Ref

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
            by_owner[Ref(owner["apiVersion"].rpartition("/")[0], owner["kind"], ref.namespace, owner["name"])].append(ref)
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
