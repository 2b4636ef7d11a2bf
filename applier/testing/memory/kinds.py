"""Defines the kinds that a cluster in memory serves: common ones from the start, others once their definitions are written."""

from __future__ import annotations

from collections.abc import Iterator

from applier.cluster import Resource
from applier.errors import UnknownKind
from applier.ref import Kind, Manifest

VERBS = frozenset({"create", "delete", "get", "list", "patch", "update", "watch"})
STATUS = frozenset({"status"})

_NAMESPACED = {
    "v1": "ConfigMap Secret ServiceAccount Service:s Pod:s PersistentVolumeClaim:s Event Endpoints= LimitRange ResourceQuota:s",
    "apps/v1": "Deployment:s StatefulSet:s DaemonSet:s ReplicaSet:s ControllerRevision",
    "batch/v1": "Job:s CronJob:s",
    "autoscaling/v2": "HorizontalPodAutoscaler:s",
    "policy/v1": "PodDisruptionBudget:s",
    "networking.k8s.io/v1": "Ingress:s:ingresses NetworkPolicy::networkpolicies",
    "rbac.authorization.k8s.io/v1": "Role RoleBinding",
    "coordination.k8s.io/v1": "Lease",
    "discovery.k8s.io/v1": "EndpointSlice",
    "resource.k8s.io/v1": "ResourceClaim:s ResourceClaimTemplate",
}
_OF_THE_CLUSTER = {
    "v1": "Namespace:s Node:s PersistentVolume:s",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding",
    "scheduling.k8s.io/v1": "PriorityClass::priorityclasses",
    "storage.k8s.io/v1": "StorageClass::storageclasses",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition:s",
}


def everyday_kinds() -> list[Resource]:
    """Returns the kinds of most graphs. In the tables, `:s` marks a status subresource, a third part the plural."""
    return [
        _resource(api_version, word, namespaced)
        for table, namespaced in ((_NAMESPACED, True), (_OF_THE_CLUSTER, False))
        for api_version, words in table.items()
        for word in words.split()
    ]


def _resource(api_version: str, word: str, namespaced: bool) -> Resource:
    name, status, plural = [*word.split(":"), "", ""][:3]
    name, as_it_is = name.rstrip("="), name.endswith("=")
    kind = Kind.read(api_version, name)
    plural = plural or name.lower() + ("" if as_it_is else "s")
    return Resource(kind, plural, namespaced, VERBS, STATUS if status else frozenset())


def defined(definition: Manifest) -> list[Resource]:
    """Returns the kinds that a CustomResourceDefinition serves, one for each version."""
    spec = definition["spec"]
    namespaced = spec.get("scope", "Namespaced") == "Namespaced"
    return [
        Resource(
            Kind(spec["group"], version["name"], spec["names"]["kind"]),
            spec["names"]["plural"],
            namespaced,
            VERBS,
            frozenset(version.get("subresources") or ()),
        )
        for version in spec["versions"]
        if version.get("served", True)
    ]


class Kinds:
    """Holds the kinds that are served now."""

    def __init__(self) -> None:
        self._served = {resource.kind: resource for resource in everyday_kinds()}

    def serve(self, resource: Resource) -> None:
        self._served[resource.kind] = resource

    def forget(self, resource: Resource) -> None:
        self._served.pop(resource.kind, None)

    def get(self, kind: Kind) -> Resource:
        """Returns how a kind is served. Raises `UnknownKind`."""
        try:
            return self._served[kind]
        except KeyError:
            raise UnknownKind(f"the server serves no {kind.kind} in {kind.api_version}; its definition may be missing") from None

    def of(self, group: str, kind: str) -> Resource:
        """Returns how any version of a kind is served. Raises `UnknownKind`."""
        for served in self._served.values():
            if (served.kind.group, served.kind.kind) == (group, kind):
                return served
        raise UnknownKind(f"the server serves no {kind} of {group or 'the core'}")

    def __iter__(self) -> Iterator[Resource]:
        return iter(self._served.values())
