"""Pods of cliques, made by hand."""

from __future__ import annotations

from applier.ref import Manifest
from tests.permitted import permitted

GANG = "demo-0"


def pod(
    name: str,
    clique: str,
    *,
    ready: bool = True,
    phase: str = "Running",
    gang: str = GANG,
    leaving: bool = False,
    attempt: str = "",
    index: str = "",
) -> Manifest:
    metadata: Manifest = {"name": name, "namespace": "ml", "labels": {"grove.io/podclique": clique, "grove.io/podgang": gang}}
    owner = {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": clique, "uid": f"uid-of-{clique}", "controller": True}
    metadata |= {"uid": f"uid-of-{name}", "ownerReferences": [owner]}
    metadata["labels"] |= {"grove.io/attempt": attempt} if attempt else {}
    metadata["labels"] |= {"grove.io/podclique-pod-index": index} if index else {}
    metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z"} if leaving else {}
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [permitted({"name": "main", "image": "x"})]},
        "status": status,
    }


def recorded(name: str, succeeded: str, *, attempt: int = 1, replicas: int = 2) -> Manifest:
    """A PodClique of a training workload, whose status says which of its ranks have succeeded."""
    metadata = {"name": name, "namespace": "ml", "labels": {"grove.io/podgang": GANG}}
    status = {"attempt": attempt, "succeededIndexes": succeeded}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": metadata, "spec": {"replicas": replicas}, "status": status}


def clique(name: str) -> Manifest:
    """A PodClique of one pod."""
    box = {"name": "main", "image": "registry.example/main:1"}
    spec = {"roleName": "main", "replicas": 1, "minAvailable": 1, "podSpec": {"containers": [box]}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": {"name": name}, "spec": spec}
