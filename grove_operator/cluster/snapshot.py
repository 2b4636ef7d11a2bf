"""Reads the objects of a cluster that a compilation depends on: those of sets, pods, claims and topologies."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

from applier.cluster import Cluster, Resource
from applier.errors import Forbidden, UnknownKind
from applier.ref import Kind, Manifest
from grove_compiler.labels import MANAGED

SET = Kind("grove.io", "v1alpha1", "PodCliqueSet")
SNAPSHOT_KINDS = (
    (SET,),
    (Kind("grove.io", "v1alpha1", "PodClique"),),
    (Kind("grove.io", "v1alpha1", "PodCliqueScalingGroup"),),
    (Kind("scheduler.grove.io", "v1alpha1", "PodGang"),),
    (Kind("", "v1", "Pod"),),
    tuple(Kind("resource.k8s.io", version, "ResourceClaimTemplate") for version in ("v1", "v1beta2", "v1beta1")),
    (Kind("resource.nvidia.com", "v1beta1", "ComputeDomain"),),
    (Kind("grove.io", "v1alpha1", "ClusterTopology"),),
    (Kind("grove.io", "v1alpha1", "ClusterTopologyBinding"),),
    (Kind("kai.scheduler", "v1alpha1", "Topology"),),
)
"""Kinds, each with its supported versions, the preferred one first."""

REVISION = Kind("apps", "v1", "ControllerRevision")

DRIVER: Manifest = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "computedomains.resource.nvidia.com"},
    "spec": {"versions": [{"name": "v1beta1", "served": True}]},
}
"""Stands for the definition by which the compiler detects NVIDIA's driver, as definitions may not be readable."""


class ReadSnapshot(NamedTuple):
    """Objects, and why those of some kinds may not be read."""

    objects: list[Manifest]
    unread: dict[Resource, Forbidden]


async def read_snapshot(cluster: Cluster, namespaces: Iterable[str]) -> ReadSnapshot:
    """Reads the objects that a compilation of sets in these namespaces depends on, by concurrent requests.

    Kinds that are not served have no objects. Raises `ClusterError`, also where the sets may not be read.
    """
    served = [resource for resource in await asyncio.gather(*(_served(cluster, versions) for versions in SNAPSHOT_KINDS)) if resource]
    places = sorted(set(namespaces))
    lists = [(resource, place) for resource in served for place in (places if resource.namespaced else [""])]
    parts = await asyncio.gather(*(_list(cluster, resource, place) for resource, place in lists))
    driver = [DRIVER] if any(resource.kind.kind == "ComputeDomain" for resource in served) else []
    unread = {resource: part for (resource, _), part in zip(lists, parts, strict=True) if isinstance(part, Forbidden)}
    return ReadSnapshot([*driver, *(manifest for part in parts if not isinstance(part, Forbidden) for manifest in part)], unread)


async def read_revisions(cluster: Cluster, namespaces: Iterable[str]) -> list[Manifest]:
    """Reads the revisions of the sets in these namespaces; none where they may not be read, as who may edit sets need not."""
    try:
        resource = await cluster.resource(REVISION)
        lists = await asyncio.gather(*(cluster.list(resource, place, labels=MANAGED) for place in sorted(set(namespaces))))
    except (Forbidden, UnknownKind):
        return []
    return [manifest for each in lists for manifest in each.items]


async def _served(cluster: Cluster, versions: tuple[Kind, ...]) -> Resource | None:
    for kind in versions:
        try:
            return await cluster.resource(kind)
        except UnknownKind:
            continue
    return None


async def _list(cluster: Cluster, resource: Resource, namespace: str) -> list[Manifest] | Forbidden:
    try:
        return (await cluster.list(resource, namespace)).items
    except Forbidden as error:
        if resource.kind == SET:
            raise
        return error
