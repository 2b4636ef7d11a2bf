"""Objects as servers report them, in as few words as a case needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from applier.ref import Manifest

KINDS = {
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "PodDisruptionBudget": "policy/v1",
    "HorizontalPodAutoscaler": "autoscaling/v2",
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
    "APIService": "apiregistration.k8s.io/v1",
    "Ingress": "networking.k8s.io/v1",
    "Widget": "example.org/v1",
}


def live(case: Mapping[str, Any]) -> Manifest:
    """The object of a case: its kind, metadata, spec and status."""
    metadata = {"name": "it", "generation": 2, **(case.get("metadata") or {})}
    given = {part: case[part] for part in ("spec", "status") if part in case}
    return {"apiVersion": KINDS.get(case["kind"], "v1"), "kind": case["kind"], "metadata": metadata, **given}
