"""What `grove get pods` prints on a real API server is what kubectl prints for the same pods, byte by byte."""

from __future__ import annotations

import json

import pytest

from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane
from tests.permitted import permitted

from ..running import run

pytestmark = pytest.mark.cluster

OURS = "grove.io/podclique"
FORMATS: list[tuple[str, ...]] = [
    ("-o", "name"),
    ("-o", "json"),
    ("-o", "yaml"),
    ("-o", "jsonpath={.items[*].metadata.name}"),
    ("-o", 'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.spec.containers[?(@.name=="main")].image}{"\\n"}{end}'),
    ("-o", "jsonpath={.items[0].metadata.labels} {.items[*].spec.priority} {.items[0].spec.tolerations[*]}"),
    ("-o", "jsonpath-as-json={.items[*].metadata.labels}"),
    ("-o", "custom-columns=NAME:.metadata.name,LABELS:.metadata.labels,IMAGES:.spec.containers[*].image,NONE:.spec.none"),
    ("-o", "custom-columns=NAME:.metadata.name", "--no-headers"),
    ("--sort-by", ".metadata.labels.order", "-o", "name"),
    ("--sort-by", "{.metadata.labels.size}", "-o", "name"),
    ("-o", "json", "--sort-by", ".metadata.name"),
]
NAMED = [
    ("a10", "-o", "json"),
    ("a9", "a10", "-o", "name"),
    ("a9", "nope", "-o", "name"),
    ("nope", "-o", "json"),
    ("nope", "no", "-o", "json"),
]


def pod(name: str, namespace: str, **labels: str) -> Manifest:
    ours = {"grove.io/podclique": "chat-0-worker", "app.kubernetes.io/managed-by": "a-policy", **labels}
    containers = [permitted({"name": name, "image": f"registry.example/{image}"}) for name, image in (("main", "a:1"), ("side", "b:<2>"))]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": ours},
        "spec": {"containers": containers, "schedulingGates": [{"name": "example.com/wait"}]},
    }


def test_they_print_the_same(control_plane: ControlPlane, namespace: str) -> None:
    pods = [pod("a9", namespace, order="10", size="1Gi"), pod("a10", namespace, order="9", size="900Mi"), pod("b", namespace)]
    control_plane.kubectl("apply", "--server-side", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    selected = [("-l", OURS, *words) for words in FORMATS] + NAMED
    differences = {}
    for words in selected:
        theirs = control_plane.kubectl("get", "pods", "-n", namespace, *words, check=False)
        ours = run("get", "pods", "-n", namespace, *words, "--kubeconfig", str(control_plane.kubeconfig))
        if (ours.code, ours.out, ours.err) != (theirs.returncode, theirs.stdout, theirs.stderr):
            differences[words] = (theirs.returncode, theirs.stdout, theirs.stderr), ours
    assert differences == {}
