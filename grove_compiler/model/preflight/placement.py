"""On which kind of machine a pod will run, as far as that is known before it is scheduled."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import Snapshot, Unknown


def instance_type(pod_spec: Manifest, label: str, snapshot: Snapshot) -> str:
    """Returns the value that the label has on every node where the pod may run; empty where that is not one."""
    name = pod_spec.get("nodeName")
    if name:
        return _of_node(str(name), label, snapshot)
    selected = (pod_spec.get("nodeSelector") or {}).get(label)
    return str(selected) if selected else _by_affinity(pod_spec, label)


def _of_node(name: str, label: str, snapshot: Snapshot) -> str:
    try:
        node = snapshot.get("v1", "Node", "", name) or {}
    except Unknown:
        return ""
    return str(((node.get("metadata") or {}).get("labels") or {}).get(label) or "")


def _by_affinity(pod_spec: Manifest, label: str) -> str:
    """Terms are alternatives, so all of them have to name the same one."""
    required = ((pod_spec.get("affinity") or {}).get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    named = {_of_term(term, label) for term in required.get("nodeSelectorTerms") or []}
    return named.pop() if len(named) == 1 else ""


def _of_term(term: Manifest, label: str) -> str:
    for one in term.get("matchExpressions") or []:
        values = one.get("values") or []
        if one.get("key") == label and one.get("operator") == "In" and len(values) == 1:
            return str(values[0])
    return ""
