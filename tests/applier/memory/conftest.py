"""A cluster in memory, and what its tests write to it."""

from __future__ import annotations

from typing import Any

import pytest

from applier.cluster import Resource
from applier.ref import Kind, Manifest
from applier.testing.memory import MemoryCluster

CONFIG_MAP, DEPLOYMENT = Kind("", "v1", "ConfigMap"), Kind("apps", "v1", "Deployment")


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


def config_map(name: str = "a", data: dict[str, str] | None = None, **metadata: Any) -> Manifest:
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default", **metadata}}
    return {**made, "data": data} if data is not None else made


def deployment(name: str = "a", **spec: Any) -> Manifest:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def served(cluster: MemoryCluster, kind: Kind = CONFIG_MAP) -> Resource:
    return cluster.kinds.get(kind)


def owned_by(owner: Manifest, *, blocks: bool = False) -> list[dict[str, Any]]:
    named = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    return [{**named, **({"blockOwnerDeletion": True} if blocks else {})}]
