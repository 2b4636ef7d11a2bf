"""Objects that tests of several rooms are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from applier.desired import DEFAULT_POLICY, Desired, Graph, Policy
from applier.plan.order import order
from applier.ref import Manifest, Ref
from applier.testing.memory.faults import MemoryRequest

API_VERSIONS = {
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "Role": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding": "rbac.authorization.k8s.io/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "RuntimeClass": "node.k8s.io/v1",
    "StorageClass": "storage.k8s.io/v1",
    "IngressClass": "networking.k8s.io/v1",
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
    "ValidatingWebhookConfiguration": "admissionregistration.k8s.io/v1",
    "MutatingWebhookConfiguration": "admissionregistration.k8s.io/v1",
    "Engine": "example.com/v1",
}
CLUSTER_WIDE = {
    "Namespace",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleBinding",
    "PriorityClass",
    "RuntimeClass",
    "StorageClass",
}
CLUSTER_WIDE |= {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "IngressClass"}


def manifest(name: str, kind: str = "ConfigMap", namespace: str = "shop", **fields: Any) -> Manifest:
    """An object; `fields` are its top-level fields."""
    metadata: dict[str, Any] = {"name": name} if kind in CLUSTER_WIDE else {"name": name, "namespace": namespace}
    metadata |= fields.pop("metadata", {})
    return {"apiVersion": API_VERSIONS.get(kind, "v1"), "kind": kind, "metadata": metadata, **fields}


def desired(
    name: str,
    kind: str = "ConfigMap",
    *after: Ref,
    namespace: str = "shop",
    owner: Ref | None = None,
    policy: Policy = DEFAULT_POLICY,
    **fields: Any,
) -> Desired:
    """A desired object. With an owner it has the owner reference to it, without a UID."""
    made = manifest(name, kind, namespace, **fields)
    if owner is not None:
        api_version = API_VERSIONS.get(owner.kind, "v1")
        made["metadata"]["ownerReferences"] = [{"apiVersion": api_version, "kind": owner.kind, "name": owner.name}]
    return Desired(made, after=after, owner=owner, policy=policy)


def ref(name: str, kind: str = "ConfigMap", namespace: str = "shop") -> Ref:
    """The name of an object made here."""
    return Ref.of(manifest(name, kind, namespace))


def waves(*objects: Desired) -> list[str]:
    """Names by wave."""
    return [" ".join(ref.name for ref in wave) for wave in order(Graph(objects)).waves]


def definition(kind: str = "Engine", group: str = "example.com", **spec: Any) -> Desired:
    """A CRD."""
    plural = f"{kind.lower()}s"
    given = {
        "group": group,
        "scope": "Namespaced",
        "names": {"kind": kind, "plural": plural},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    }
    return desired(f"{plural}.{group}", "CustomResourceDefinition", spec={**given, **spec})


def asks_for(plural: str) -> Callable[[MemoryRequest], bool]:
    """Picks the requests to a resource, for `MemoryCluster.fail`."""
    return lambda request: request.resource.plural == plural
