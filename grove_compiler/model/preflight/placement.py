"""Derives the instance type of the nodes on which a pod may run, before it is scheduled."""

from __future__ import annotations

from grove_compiler.graph.node import Manifest
from grove_compiler.model.inputs.snapshot import Snapshot


def instance_type(pod_spec: Manifest, label: str, snapshot: Snapshot) -> str:
    """Returns the label's value on every node on which the pod may run: by its node, node selector or affinity; empty if not unique."""
    name = pod_spec.get("nodeName")
    if name:
        return node_instance_type(str(name), label, snapshot)
    selected = (pod_spec.get("nodeSelector") or {}).get(label)
    return str(selected) if selected else _by_affinity(pod_spec, label)


def node_instance_type(name: str, label: str, snapshot: Snapshot) -> str:
    """Returns the label's value on a node; empty for an unknown node, and without the label."""
    node = snapshot.find("v1", "Node", "", name) or {}
    return str(((node.get("metadata") or {}).get("labels") or {}).get(label) or "")


def _by_affinity(pod_spec: Manifest, label: str) -> str:
    """Returns the value that the required node affinity demands. Its terms are alternatives, so all of them must demand the same."""
    required = ((pod_spec.get("affinity") or {}).get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    values = {_of_term(term, label) for term in required.get("nodeSelectorTerms") or []}
    return values.pop() if len(values) == 1 else ""


def _of_term(term: Manifest, label: str) -> str:
    for requirement in term.get("matchExpressions") or []:
        values = requirement.get("values") or []
        if requirement.get("key") == label and requirement.get("operator") == "In" and len(values) == 1:
            return str(values[0])
    return ""
