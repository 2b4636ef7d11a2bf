"""What the compiler has to know of a cluster: the sets' own objects, pods, claims and topologies, as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from applier.cluster import Cluster, Resource
from applier.errors import Forbidden, UnknownKind
from applier.ref import Kind, Manifest

LOOKED_AT = (
    (Kind("grove.io", "v1alpha1", "PodCliqueSet"),),
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
"""Kinds, each in the versions that will do, the best one first."""

DRIVER: Manifest = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "computedomains.resource.nvidia.com"},
    "spec": {"versions": [{"name": "v1beta1", "served": True}]},
}
"""What the compiler knows NVIDIA's driver by, said for a server that serves the driver's kind: reading it may not be permitted."""


async def read_snapshot(cluster: Cluster, namespaces: Iterable[str]) -> list[Manifest]:
    """Reads all objects that a compilation of sets in these namespaces looks at; kinds that the server does not serve have none.

    Requests run at once. Cluster-wide objects that may not be read count as none. Raises `ClusterError`.
    """
    served = [resource for resource in await asyncio.gather(*(_served(cluster, versions) for versions in LOOKED_AT)) if resource]
    places = sorted(set(namespaces))
    wanted = [(resource, place) for resource in served for place in (places if resource.namespaced else [""])]
    parts = await asyncio.gather(*(_list(cluster, resource, place) for resource, place in wanted))
    driver = [DRIVER] if any(resource.kind.kind == "ComputeDomain" for resource in served) else []
    return [*driver, *(manifest for part in parts for manifest in part)]


async def _served(cluster: Cluster, versions: tuple[Kind, ...]) -> Resource | None:
    for kind in versions:
        try:
            return await cluster.resource(kind)
        except UnknownKind:
            continue
    return None


async def _list(cluster: Cluster, resource: Resource, namespace: str) -> list[Manifest]:
    try:
        return (await cluster.list(resource, namespace)).items
    except Forbidden:
        if resource.namespaced:
            raise
        return []
