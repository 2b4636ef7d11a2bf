"""Injects into pods of tests, with the rules that ship."""

from __future__ import annotations

from typing import Any

from grove_compiler.model.inputs.snapshot import ObjectList, ObjectReader
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.preflight import Injection, inject, read_values
from grove_compiler.source.document import Document

from ..shipped import program


def values_of(values: dict[str, Any]) -> Preflight:
    """Values that are right, with their defaults."""
    preflight, findings = read_values(Document(values))
    assert findings == []
    return preflight


def pod_of(spec: dict[str, Any], *, labels: Any = None, annotations: Any = None, namespace: str = "training") -> dict[str, Any]:
    """A pod as an API server gets it."""
    metadata = {"name": "p", "namespace": namespace, "labels": labels or {}, "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def inject_pod(pod: dict[str, Any], values: dict[str, Any], view: ObjectReader | None = None) -> Injection:
    """What the shipped rules make of a pod."""
    return inject(pod, view if view is not None else ObjectList(), values_of(values), program())
