"""Registers tests as rows of the comparison with NVSentinel's checks, and lets pods in for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.preflight import Injection

from ..injecting import inject_pod, pod_of

Verdict = Literal["same", "better", "different"]
Test = TypeVar("Test", bound=Callable[..., None])
ROWS: dict[str, Verdict] = {}

GPUS = {"limits": {"nvidia.com/gpu": 8}}
DEVICES = {"limits": {"nvidia.com/gpu": 8, "nvidia.com/mlnxnics": 4}}
LABELLED = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "training", "labels": {"nvsentinel.nvidia.com/preflight": "enabled"}},
}
SELECTION = "nvsentinel.nvidia.com/preflight-checks"


def row(topic: str, verdict: Verdict) -> Callable[[Test], Test]:
    """Registers a test as that of a row of the page's table."""

    def registered(test: Test) -> Test:
        assert topic not in ROWS
        ROWS[topic] = verdict
        return test

    return registered


def admitted(resources: Manifest, *existing: Manifest, spec: Manifest | None = None, annotations: Any = None, **values: Any) -> Injection:
    pod = pod_of({"containers": [{"name": "main", "resources": resources}]} | (spec or {}), annotations=annotations)
    return inject_pod(pod, values, ObjectList(existing))


def names(result: Injection) -> list[str]:
    return [one["name"] for one in result.injected["spec"].get("initContainers", [])]


def environment(result: Injection) -> dict[str, str | None]:
    """The variables of the last check."""
    return {one["name"]: one.get("value") for one in result.patch[0]["value"][-1]["env"]}


def check(name: str, **more: Any) -> list[Manifest]:
    return [{"name": name, "image": "i", **more}]
