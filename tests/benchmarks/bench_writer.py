"""Prints how fast YAML and JSON are read and written, beside PyYAML's libyaml classes: `python -m tests.benchmarks.bench_writer`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import yaml

from grove_compiler.source.json_reader import read_json
from grove_compiler.source.json_writer import write_json
from grove_compiler.source.yaml_reader import read_yaml
from grove_compiler.source.yaml_writer import write_yaml

ROUNDS = 5


def pod(index: int) -> dict[str, Any]:
    """A pod of about 2 KB, as a prefill worker of a disaggregated service has it. Nothing in it is shared."""
    name = f"llama-{index // 8}-prefill-{index % 8}"
    labels = {
        "app.kubernetes.io/name": "llama",
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": "llama",
        "grove.io/podclique": f"llama-{index // 8}-prefill",
        "grove.io/podgang": f"llama-{index // 8}",
        "grove.io/podcliqueset-replica-index": str(index // 8),
        "grove.io/pod-template-hash": "6b8d9f7c5d",
    }
    field = {"apiVersion": "v1", "fieldPath": "metadata.labels['grove.io/podgang']"}
    environment: list[dict[str, Any]] = [
        {"name": "GROVE_PCS_NAME", "value": "llama"},
        {"name": "GROVE_PCS_INDEX", "value": str(index // 8)},
        {"name": "GROVE_PCLQ_NAME", "value": f"llama-{index // 8}-prefill"},
        {"name": "GROVE_HEADLESS_SERVICE", "value": f"llama-{index // 8}.default.svc.cluster.local"},
        {"name": "GROVE_PCLQ_POD_INDEX", "value": str(index % 8)},
        {"name": "PODGANG", "valueFrom": {"fieldRef": field}},
        {"name": "NCCL_DEBUG", "value": "INFO"},
    ]
    container = {
        "name": "worker",
        "image": "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.7.0",
        "command": ["/bin/sh", "-c"],
        "args": ["python3 -m dynamo.vllm --model meta-llama/Llama-3.1-70B --is-prefill-worker\n"],
        "env": environment,
        "ports": [{"containerPort": 8000, "name": "http", "protocol": "TCP"}],
        "resources": {
            "limits": {"nvidia.com/gpu": 8, "memory": "512Gi", "cpu": "64"},
            "requests": {"nvidia.com/gpu": 8, "memory": "256Gi", "cpu": "32"},
        },
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}, {"name": "models", "mountPath": "/models", "readOnly": True}],
    }
    owner = {
        "apiVersion": "grove.io/v1alpha1",
        "blockOwnerDeletion": True,
        "controller": True,
        "kind": "PodClique",
        "name": f"llama-{index // 8}-prefill",
        "uid": "7f1c5a3e-0d0b-4c6b-9b5e-2f4c3d1a9e77",
    }
    spec = {
        "containers": [container],
        "hostname": name,
        "schedulerName": "kai-scheduler",
        "schedulingGates": [{"name": "grove.io/podgang-pending-creation"}],
        "subdomain": f"llama-{index // 8}",
        "terminationGracePeriodSeconds": 30,
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "volumes": [
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}},
            {"name": "models", "persistentVolumeClaim": {"claimName": "models"}},
        ],
    }
    metadata = {"name": name, "namespace": "default", "labels": labels, "ownerReferences": [owner], "finalizers": ["grove.io/podclique"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def shared_pods(count: int) -> list[dict[str, Any]]:
    """Pods as the engine renders them: what does not depend on the pod is one object for all."""
    first = pod(0)
    container = first["spec"]["containers"][0]
    pods = []
    for index in range(count):
        own = pod(index)
        own_container = container | {"env": [*own["spec"]["containers"][0]["env"][:5], *container["env"][5:]]}
        spec = first["spec"] | {"containers": [own_container], "hostname": own["spec"]["hostname"], "subdomain": own["spec"]["subdomain"]}
        pods.append(own | {"spec": spec})
    return pods


def mixed(count: int) -> list[dict[str, Any]]:
    """The objects of a whole set: a third pods, the others services, claims, roles and the like of half a kilobyte."""
    small = [
        {"apiVersion": "v1", "kind": "Service", "metadata": item["metadata"], "spec": {"clusterIP": "None", "selector": {"app": "llama"}}}
        for item in shared_pods(2 * count)
    ]
    return [*shared_pods(count), *small]


def best(work: Callable[[], object]) -> float:
    """The shortest of some rounds, in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return min(times) * 1000


def dumped(objects: Iterable[Any]) -> str:
    """PyYAML's text."""
    return str(yaml.dump_all(objects, Dumper=yaml.CSafeDumper, sort_keys=False))


def loaded(text: str) -> list[Any]:
    """PyYAML's values."""
    return list(yaml.load_all(text, Loader=yaml.CSafeLoader))


def main() -> None:
    """Prints one line a measurement."""
    plain, shared, whole = [pod(index) for index in range(1000)], shared_pods(1000), mixed(1000)
    text, json_text = write_yaml(plain), write_json(plain)
    rows: list[tuple[str, Callable[[], object]]] = [
        ("write_yaml, 1,000 pods, nothing shared", lambda: write_yaml(plain)),
        ("write_yaml, 1,000 pods, shared parts", lambda: write_yaml(shared)),
        ("write_yaml, 3,000 objects, shared parts", lambda: write_yaml(whole)),
        ("CSafeDumper, 1,000 pods", lambda: dumped(plain)),
        ("write_json, 1,000 pods, nothing shared", lambda: write_json(plain)),
        ("write_json, 3,000 objects, shared parts", lambda: write_json(whole)),
        ("json.dumps(indent=4), 1,000 pods", lambda: json.dumps(plain, indent=4)),
        ("read_yaml, 1,000 pods", lambda: read_yaml(text, "")),
        ("CSafeLoader, 1,000 pods", lambda: loaded(text)),
        ("read_json, 1,000 pods", lambda: read_json(json_text, "")),
        ("json.loads, 1,000 pods", lambda: json.loads(json_text)),
    ]
    print(f"a pod has {len(text) / len(plain):.0f} bytes of YAML; best of {ROUNDS}")
    for title, work in rows:
        print(f"{title:42} {best(work):8.1f} ms")


if __name__ == "__main__":
    main()
