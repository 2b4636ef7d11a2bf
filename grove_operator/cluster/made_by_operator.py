"""What an operator has made in a cluster, as objects whose ownership can be taken over."""

from __future__ import annotations

from collections.abc import Iterable

from applier.cache import Query
from applier.cache.read import read_once
from applier.cluster import Cluster
from applier.desired import Desired, Graph
from applier.ref import Kind, Manifest

SHIPPED = "grove-operator"
"""The name under which the shipped operator writes, and ours as well: that of its program."""
OURS = f"app.kubernetes.io/managed-by={SHIPPED}"
MADE = (
    Kind("grove.io", "v1alpha1", "PodClique"),
    Kind("grove.io", "v1alpha1", "PodCliqueScalingGroup"),
    Kind("scheduler.grove.io", "v1alpha1", "PodGang"),
    Kind("", "v1", "Service"),
    Kind("", "v1", "ServiceAccount"),
    Kind("autoscaling", "v2", "HorizontalPodAutoscaler"),
)
"""Those that the operator keeps as they should be. Pods, Secrets and roles are made once and never changed, so that it matters to nobody
who owns their fields."""
BY_SERVER = ("managedFields", "resourceVersion", "generation", "creationTimestamp", "selfLink")


async def made_by_operator(cluster: Cluster, namespace: str) -> Graph:
    """Returns the objects that an operator has made in a namespace, or in all where it is empty. Raises `ClusterError`."""
    live = await read_once(cluster, [Query(kind, namespace, labels=OURS) for kind in MADE], labels=OURS)
    return Graph(list(_desired(live.objects.values())))


def _desired(objects: Iterable[Manifest]) -> Iterable[Desired]:
    for one in objects:
        metadata = {key: value for key, value in one["metadata"].items() if key not in BY_SERVER}
        yield Desired({**{key: value for key, value in one.items() if key != "status"}, "metadata": metadata})
