"""Finds objects that a delete would delete as well: everything in a namespace, all objects of a definition's kind.

To the server that is one delete. To people it is everything that others have created there, so it is listed and counted before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from typing import NamedTuple

from applier.cluster import Cluster, Resource
from applier.errors import Forbidden, UnknownKind
from applier.ref import DEFINITION, NAMESPACE, Kind, Manifest, Ref, owner_uids, uid_of
from kube_objects.words import listed

AT_ONCE = 16  # lists in flight
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
            taken |= await _listed(served, ref.name, cluster, ours)
        elif ref[:2] == DEFINITION:
            taken |= await _listed(await _defined(manifest, cluster), "", cluster, ours)
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


async def _listed(resources: Iterable[Resource], namespace: str, cluster: Cluster, ours: Collection[str]) -> TakenAlong:
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
