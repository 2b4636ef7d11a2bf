"""A real API server refuses to change the fields that our table calls fixed, and we forecast it."""

from __future__ import annotations

from typing import Any

import pytest

from applier.desired import DEFAULT_POLICY, Desired, Policy
from applier.plan.immutable import FROZEN
from applier.ref import Kind
from applier.testing.control_plane import ControlPlane
from tests.permitted import permitted

from .shop import opened

pytestmark = pytest.mark.cluster
RECREATE = Policy(recreate=True)
POD = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "main", "image": "example.com/a"}]}}
PORTS = {"ports": [{"port": 80}]}
SELECTOR = {"matchLabels": {"app": "a"}}
OTHER = {"matchLabels": {"app": "a", "tier": "b"}}
BOTH = {**POD, "metadata": {"labels": {"app": "a", "tier": "b"}}}
ROLES = [{"kind": "Role", "name": name, "apiGroup": "rbac.authorization.k8s.io"} for name in "ab"]
CLUSTER_ROLES = [{"kind": "ClusterRole", "name": name, "apiGroup": "rbac.authorization.k8s.io"} for name in ("view", "edit")]
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
DEVICES = [{"devices": {"requests": [{"name": name, "exactly": {"deviceClassName": "x"}}]}} for name in "ab"]
REPLICAS = {"serviceName": "a", "selector": SELECTOR, "template": POD}
JOB = {"spec": {"containers": [{"name": "main", "image": "example.com/a"}], "restartPolicy": "Never"}}
PODS = {"containers": [permitted({"name": "main", "image": "example.com/a"})]}
APPS, RBAC, STORAGE = "apps/v1", "rbac.authorization.k8s.io/v1", "storage.k8s.io/v1"

CHANGES: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("v1", "Service", {"spec": PORTS}, {"spec": {**PORTS, "clusterIP": "10.0.0.77"}}),
    ("v1", "PersistentVolumeClaim", {"spec": CLAIM}, {"spec": {**CLAIM, "accessModes": ["ReadOnlyMany"]}}),
    ("v1", "Secret", {"type": "a"}, {"type": "b"}),
    ("v1", "ConfigMap", {"immutable": True, "data": {"a": "1"}}, {"immutable": True, "data": {"a": "2"}}),
    ("v1", "Pod", {"spec": {**PODS, "restartPolicy": "Always"}}, {"spec": {**PODS, "restartPolicy": "Never"}}),
    ("v1", "Pod", {"spec": {**PODS, "schedulerName": "x"}}, {"spec": {**PODS, "schedulerName": "y"}}),
    (APPS, "ControllerRevision", {"revision": 1, "data": {"a": "1"}}, {"revision": 1, "data": {"a": "2"}}),
    (APPS, "Deployment", {"spec": {"selector": SELECTOR, "template": POD}}, {"spec": {"selector": OTHER, "template": BOTH}}),
    (APPS, "DaemonSet", {"spec": {"selector": SELECTOR, "template": POD}}, {"spec": {"selector": OTHER, "template": BOTH}}),
    (APPS, "ReplicaSet", {"spec": {"selector": SELECTOR, "template": POD}}, {"spec": {"selector": OTHER, "template": BOTH}}),
    (APPS, "StatefulSet", {"spec": REPLICAS}, {"spec": {**REPLICAS, "serviceName": "b"}}),
    (APPS, "StatefulSet", {"spec": REPLICAS}, {"spec": {**REPLICAS, "podManagementPolicy": "Parallel"}}),
    ("batch/v1", "Job", {"spec": {"template": JOB}}, {"spec": {"template": {"spec": {**JOB["spec"], "restartPolicy": "OnFailure"}}}}),
    (RBAC, "RoleBinding", {"roleRef": ROLES[0]}, {"roleRef": ROLES[1]}),
    (RBAC, "ClusterRoleBinding", {"roleRef": CLUSTER_ROLES[0]}, {"roleRef": CLUSTER_ROLES[1]}),
    ("resource.k8s.io/v1", "ResourceClaim", {"spec": DEVICES[0]}, {"spec": DEVICES[1]}),
    ("resource.k8s.io/v1", "ResourceClaimTemplate", {"spec": {"spec": DEVICES[0]}}, {"spec": {"spec": DEVICES[1]}}),
    ("scheduling.k8s.io/v1", "PriorityClass", {"value": 1}, {"value": 2}),
    (STORAGE, "StorageClass", {"provisioner": "a"}, {"provisioner": "b"}),
    (STORAGE, "StorageClass", {"provisioner": "a", "reclaimPolicy": "Delete"}, {"provisioner": "a", "reclaimPolicy": "Retain"}),
    (STORAGE, "VolumeAttributesClass", {"driverName": "a", "parameters": {"a": "b"}}, {"driverName": "b", "parameters": {"a": "b"}}),
    ("node.k8s.io/v1", "RuntimeClass", {"handler": "a"}, {"handler": "b"}),
    ("networking.k8s.io/v1", "IngressClass", {"spec": {"controller": "example.com/a"}}, {"spec": {"controller": "example.com/b"}}),
    ("discovery.k8s.io/v1", "EndpointSlice", {"addressType": "IPv4", "endpoints": []}, {"addressType": "IPv6", "endpoints": []}),
]
"""Changes of fields that our table calls fixed: before and after."""


SINCE = {"resource.k8s.io/v1": "1.34", "VolumeAttributesClass": "1.34"}
"""From which version of Kubernetes on servers have what is tried, where that is not all of them."""


@pytest.mark.parametrize(
    ("api_version", "kind", "before", "after"),
    [
        pytest.param(*change, marks=[pytest.mark.served_since(SINCE[what], what) for what in change[:2] if what in SINCE])
        for change in CHANGES
    ],
)
async def test_what_the_table_calls_fixed_the_server_refuses(
    control_plane: ControlPlane, namespace: str, api_version: str, kind: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    async with opened(control_plane, namespace) as shop:
        resource = await shop.cluster.resource(Kind.read(api_version, kind))
        metadata = {"name": f"fixed-{namespace}"} | ({"namespace": namespace} if resource.namespaced else {})

        def one(fields: dict[str, Any], policy: Policy = DEFAULT_POLICY) -> Desired:
            return Desired({"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}, policy=policy)

        try:
            assert (await shop.apply(one(before))).endswith("=created"), shop.reason()
            assert (await shop.apply(one(after))).endswith("=held"), "the forecast"
            assert "cannot be changed once set" in shop.reason()
            assert (await shop.apply(one(after, RECREATE), dry_run=True)).endswith("=recreated"), "the server's own word"
        finally:
            named = f"{kind}.{api_version.partition('/')[0]}" if "/" in api_version else kind
            control_plane.kubectl("delete", named, metadata["name"], "-n", namespace, "--wait=false")


def test_every_kind_of_the_table_is_tried() -> None:
    tried = {(api_version.rpartition("/")[0], kind) for api_version, kind, _, _ in CHANGES}
    assert set(FROZEN) <= tried
