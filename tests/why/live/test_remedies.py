"""What ends a wait for the scheduler is found by words of its messages: kube-scheduler says them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from applier.ref import Manifest
from tests.controller.live.world import CONFIGURATION, LiveCluster, clique, pod_clique_set
from tests.permitted import permitted, resources

from .situation import PLAYED as HERE
from .test_live import plane, why, world

__all__ = ["plane", "world"]

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")


def volume(claim: str) -> Manifest:
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]}


def terms(of: str, **labels: str) -> Manifest:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    return {"affinity": {of: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def storage(name: str, **spec: Any) -> Manifest:
    size = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": {**size, **spec}}


LATE = {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
BESIDE = [
    storage("unbound", storageClassName="nobody"),
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "why-late"}, **LATE},
    storage("late", storageClassName="why-late"),
]
WAITING: dict[str, tuple[Manifest, str]] = {
    "cpu": ({"containers": [permitted({"name": "box", "image": "i", "resources": resources("9000")})]}, "free resources, or request less"),
    "port": (
        {"containers": [permitted({"name": "box", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]})], **HERE},
        "free the host ports",
    ),
    "near": (terms("podAffinity", app="nobody"), "relax podAffinity"),
    "apart": ({**terms("podAntiAffinity", **{"example.com/apart": "yes"}), **HERE}, "relax podAntiAffinity"),
    "lost": (volume("nowhere"), "create the PersistentVolumeClaim"),
    "unbound": (volume("unbound"), "check the StorageClass"),
    "late": (volume("late"), "check the StorageClass"),
    "nodes": ({"nodeSelector": {"nowhere": "here"}}, "label nodes as nodeSelector"),
}
"""Pods that kube-scheduler cannot place, and how the remedy begins; of those that wait for each other there are two."""


def the_set() -> Manifest:
    def one(name: str, pod: Manifest) -> Manifest:
        made = clique(name, 2 if pod.get("nodeSelector") == HERE["nodeSelector"] else 1, minAvailable=1)
        made["spec"]["podSpec"] |= pod
        return {**made, "labels": {"example.com/apart": "yes"}} if name == "apart" else made

    return pod_clique_set(*(one(name, pod) for name, (pod, _) in WAITING.items()))


def remedies(waits: list[Manifest], of: str = "") -> dict[str, str]:
    """What is to be done for the pods of each clique that the scheduler has spoken of."""
    found: dict[str, str] = {}
    for wait in waits:
        if wait["rule"] == "why/pod-scheduler":
            found[of.split("/")[-1].split("-")[2]] = wait["resolve"]
        found |= remedies(wait.get("waits", []), wait.get("for", ""))
    return found


@pytest.mark.plain_cluster("`restricted` forbids the host ports that pods of the test wait for")
async def test_the_remedy_follows_what_the_scheduler_says(world: LiveCluster, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps(CONFIGURATION))
    for manifest in BESIDE:
        await world.apply(manifest)
    await world.start()
    await world.apply(the_set())

    async def found() -> dict[str, str]:
        told = remedies(await why(world, "chat", config))
        return {name: told.get(name, "")[: len(begins)] for name, (_, begins) in WAITING.items()}

    await world.until(found, {name: begins for name, (_, begins) in WAITING.items()})
