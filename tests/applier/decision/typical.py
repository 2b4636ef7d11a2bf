"""Objects as people write them, about 2 KB each once a server has stored them; for tests of the usual case and for timing."""

from __future__ import annotations

import copy
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

Manifest = dict[str, Any]
MANAGER = "us"
_FILE = Path(__file__).with_name("typical.json.gz")
_LABELS = {"app.kubernetes.io/name": "shop", "app.kubernetes.io/component": "web", "app.kubernetes.io/managed-by": "grove"}


def _metadata(name: str) -> Manifest:
    return {"name": name, "labels": dict(_LABELS), "annotations": {"example.com/note": "made by a test"}}


def _container(name: str) -> Manifest:
    variables = [{"name": f"SETTING_{number}", "value": f"value-{number}"} for number in range(6)]
    return {
        "name": name,
        "image": "registry.example.com/shop/web:1.2.3",
        "args": ["--port", "8080", "--workers", "4"],
        "env": [*variables, {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "ports": [{"name": "http", "containerPort": 8080}, {"name": "metrics", "containerPort": 9090}],
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 5},
        "volumeMounts": [{"name": "settings", "mountPath": "/etc/shop"}, {"name": "scratch", "mountPath": "/tmp"}],
    }


def _pod_spec() -> Manifest:
    return {
        "containers": [_container("web"), {"name": "proxy", "image": "registry.example.com/proxy:7"}],
        "volumes": [{"name": "settings", "configMap": {"name": "settings"}}, {"name": "scratch", "emptyDir": {}}],
        "terminationGracePeriodSeconds": 30,
        "nodeSelector": {"disk": "ssd"},
    }


def _template() -> Manifest:
    return {"metadata": {"labels": dict(_LABELS)}, "spec": _pod_spec()}


def _object(api_version: str, kind: str, **rest: Any) -> Manifest:
    return {"apiVersion": api_version, "kind": kind, "metadata": _metadata(kind.lower()), **rest}


def manifests() -> list[Manifest]:
    """One of each kind, as it is applied."""
    selector = {"matchLabels": {"app.kubernetes.io/name": "shop"}}
    ports = [{"name": "http", "port": 80, "targetPort": "http"}, {"name": "metrics", "port": 9090}]
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "deployment"}
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
    path = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "service", "port": {"number": 80}}}}
    return [
        _object("v1", "ConfigMap", data={f"setting-{number}": "value " * 10 for number in range(10)}),
        _object("v1", "Secret", type="Opaque", stringData={"user": "shop", "password": "not a secret"}),
        _object("v1", "Service", spec={"selector": dict(_LABELS), "ports": ports}),
        _object("apps/v1", "Deployment", spec={"replicas": 3, "selector": selector, "template": _template()}),
        _object(
            "apps/v1",
            "StatefulSet",
            spec={"replicas": 3, "serviceName": "service", "selector": selector, "template": _template(), "volumeClaimTemplates": [claim]},
        ),
        _object("v1", "Pod", spec=_pod_spec()),
        _object("autoscaling/v2", "HorizontalPodAutoscaler", spec={"scaleTargetRef": target, "maxReplicas": 5, "metrics": [metric]}),
        _object(
            "rbac.authorization.k8s.io/v1", "Role", rules=[{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
        ),
        _object("networking.k8s.io/v1", "Ingress", spec={"rules": [{"host": "shop.example", "http": {"paths": [path]}}]}),
    ]


@cache
def _stored() -> list[Manifest]:
    found: list[Manifest] = json.loads(gzip.decompress(_FILE.read_bytes()))
    return found


def stored() -> list[Manifest]:
    """The same objects as a server of Kubernetes 1.35.4 stored them for `MANAGER`; see `record`."""
    return copy.deepcopy(_stored())
