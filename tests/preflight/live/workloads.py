"""Pods with GPUs in a gang, and everything of Kubernetes that makes such pods."""

from __future__ import annotations

from typing import Any

from grove_compiler.graph.node import Manifest
from tests.permitted import permitted, resources

LABELS = {"app.kubernetes.io/gang-id": "g1", "app.kubernetes.io/gang-size": "2"}
CONTAINER = permitted({"name": "main", "image": "m", "resources": resources(**{"nvidia.com/gpu": "8", "nvidia.com/mlnxnics": "4"})})
NODE_LABEL = "example.com/has-daemon"
"""Where the DaemonSet's pod goes."""

OWNERS = {
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicationController": "v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
}


def workload(name: str, owner: str = "Pod") -> Manifest:
    """A pod, or what makes one."""
    metadata = {"name": name}
    if owner == "Pod":
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {**metadata, "labels": LABELS}, "spec": {"containers": [CONTAINER]}}
    return {"apiVersion": OWNERS[owner], "kind": owner, "metadata": metadata, "spec": _spec(name, owner)}


def _spec(name: str, owner: str) -> dict[str, Any]:
    pod: dict[str, Any] = {"containers": [CONTAINER]}
    template = {"metadata": {"labels": LABELS | {"app": name}}, "spec": pod}
    selector = {"app": name}
    if owner in ("Job", "CronJob"):
        pod["restartPolicy"] = "Never"
        return {"template": template} if owner == "Job" else {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}}
    if owner == "ReplicationController":
        return {"template": template, "selector": selector, "replicas": 1}
    spec: dict[str, Any] = {"template": template, "selector": {"matchLabels": selector}}
    if owner == "DaemonSet":
        pod |= {"nodeSelector": {NODE_LABEL: "true"}, "tolerations": [{"operator": "Exists"}]}  # nobody keeps the node ready
        return spec
    return spec | {"replicas": 1} | ({"serviceName": name} if owner == "StatefulSet" else {})
