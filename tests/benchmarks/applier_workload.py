"""Mixed objects of everyday kinds, the same each time: what the benchmarks of the applier write."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from typing import Any

Manifest = dict[str, Any]


def config_map(name: str, random: random.Random) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": {f"key-{n}": f"{random.getrandbits(64):016x}" for n in range(8)}}


def secret(name: str, random: random.Random) -> Manifest:
    value = base64.b64encode(random.randbytes(24)).decode()
    return {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"token": value}}


def service(name: str, random: random.Random) -> Manifest:
    ports = [{"name": "http", "port": 80, "targetPort": 8000 + random.randrange(100)}, {"name": "metrics", "port": 9090}]
    return {"apiVersion": "v1", "kind": "Service", "spec": {"clusterIP": "None", "selector": {"app": name}, "ports": ports}}


def service_account(name: str, random: random.Random) -> Manifest:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "automountServiceAccountToken": False}


def role(name: str, random: random.Random) -> Manifest:
    verbs = random.sample(["get", "list", "watch", "patch"], 3)
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}],
    }


def deployment(name: str, random: random.Random) -> Manifest:
    container = {
        "name": "main",
        "image": f"registry.example/app:{random.randrange(100)}",
        "env": [{"name": f"VALUE_{n}", "value": str(random.randrange(1000))} for n in range(6)],
        "ports": [{"name": "http", "containerPort": 8000}],
        "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": f"{random.randrange(1, 10)}00m", "memory": "512Mi"}},
    }
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template},
    }


MAKERS: list[Callable[[str, random.Random], Manifest]] = [config_map, secret, service, service_account, role, deployment]


def mixed_objects(count: int, namespace: str, *, seed: int = 1) -> list[Manifest]:
    """So many objects, kinds taking turns. None makes the cluster start anything: Deployments have no replicas."""
    source = random.Random(seed)
    objects = []
    for number in range(count):
        make = MAKERS[number % len(MAKERS)]
        name = f"bench-{number:05}"
        manifest = make(name, source)
        metadata = {"name": name, "namespace": namespace, "labels": {"app.kubernetes.io/part-of": "bench"}}
        objects.append({"apiVersion": manifest.pop("apiVersion"), "kind": manifest.pop("kind"), "metadata": metadata, **manifest})
    return objects
