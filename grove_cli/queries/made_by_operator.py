"""Reads the objects that an operator has created, as a graph whose field ownership can be taken over."""

from __future__ import annotations

from collections.abc import Iterable

from applier.cache import Query
from applier.cache.read import read_once
from applier.cluster import Cluster
from applier.desired import Desired, Graph
from applier.ref import Kind, Manifest
from grove_compiler.labels import MANAGED

MADE = (
    Kind("grove.io", "v1alpha1", "PodClique"),
    Kind("grove.io", "v1alpha1", "PodCliqueScalingGroup"),
    Kind("scheduler.grove.io", "v1alpha1", "PodGang"),
    Kind("", "v1", "Service"),
    Kind("", "v1", "ServiceAccount"),
    Kind("autoscaling", "v2", "HorizontalPodAutoscaler"),
)
"""The kinds that the operator updates. Pods, Secrets and roles are created once and never changed, whoever owns their fields."""
SERVER_FIELDS = ("managedFields", "resourceVersion", "generation", "creationTimestamp", "selfLink")


async def made_by_operator(cluster: Cluster, namespace: str) -> Graph:
    """Returns the objects of an operator in a namespace, or in all if it is empty. Raises `ClusterError`."""
    live = await read_once(cluster, [Query(kind, namespace, labels=MANAGED) for kind in MADE], labels=MANAGED)
    return Graph(list(_desired(live.objects.values())))


def _desired(objects: Iterable[Manifest]) -> Iterable[Desired]:
    for manifest in objects:
        metadata = {key: value for key, value in manifest["metadata"].items() if key not in SERVER_FIELDS}
        yield Desired({**{key: value for key, value in manifest.items() if key != "status"}, "metadata": metadata})
