"""Reads v1 Node and Pod manifests as the cluster on which gangs are placed, with findings on what is wrong in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import field
from typing import Any

from grove_compiler.fit.cluster import Cluster, ClusterNode, Sourced, Taint, sourced_objects
from grove_compiler.gangs.clique import Key
from grove_compiler.graph.diagnostic import Diagnostic, Severity
from grove_compiler.graph.nearest import nearest
from grove_compiler.kube.pod_request import PODS, Amounts, amounts, host_ports, request
from grove_compiler.labels import GANG_LABEL
from grove_compiler.record import record
from grove_compiler.source.document import Document
from kube_objects.manifest import section
from kube_objects.quantity import QuantityError
from kube_objects.words import listed

USUAL_PODS = 110
"""The kubelet's default pod limit, for nodes without `pods` in their allocatable resources."""
FINISHED = ("Succeeded", "Failed")


@record
class Nodes:
    """Holds the nodes of a file and the findings on it."""

    cluster: Cluster = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)

    def report(self, about: Sourced, code: str, severity: Severity, message: str, *path: str | int, **more: Any) -> None:
        """Adds a finding on a path of an object."""
        self.findings.append(about.finding(code, severity, message, *path, **more))


def read_nodes(documents: Iterable[Document], own_gangs: Collection[Key] = ()) -> Nodes:
    """Reads the nodes of a file and subtracts what the Pods of the same file use.

    Pods of `own_gangs`, by namespace and name, take nothing: whether these gangs can be placed is the question.
    """
    result = Nodes()
    pods = []
    ignored: dict[str, list[Sourced]] = {}
    for entry in sourced_objects(documents):
        kind = section(entry.value).get("kind")
        if kind == "Node":
            _take_node(entry, result)
        elif kind == "Pod":
            pods.append(entry)
        elif kind:
            ignored.setdefault(str(kind), []).append(entry)
        else:
            result.report(entry, "node/not-an-object", "error", "not a Kubernetes object: expected a Node or a Pod")
    for kind, entries in ignored.items():
        number = f"{len(entries)} objects of the kind " if len(entries) > 1 else ""
        message = f"{number}{kind} are neither Nodes nor Pods" if number else f"{kind} is neither a Node nor a Pod"
        message += f" and {'have' if number else 'has'} no effect on the answer"
        result.report(entries[0], "node/ignored", "warning", message, "kind", nearest=nearest(kind, ["Node", "Pod"]))
    _take_pods(pods, own_gangs, result)
    if not result.cluster and not result.findings:
        result.findings.append(Diagnostic("node/none", "error", "there is no Node in the nodes file"))
    return result


def _take_node(entry: Sourced, result: Nodes) -> None:
    if not isinstance(entry.field("metadata", "name"), str):
        result.report(entry, "node/no-name", "error", "a Node without metadata.name", "metadata", type="Required value")
        return
    node = ClusterNode(entry.name, _labels(entry, result), _allocatable(entry, result), _taints(entry, result), manifest=entry)
    node.unschedulable = entry.field("spec", "unschedulable") is True
    result.cluster.append(node)


def _labels(entry: Sourced, result: Nodes) -> dict[str, str]:
    labels = entry.field("metadata", "labels") or {}
    if not isinstance(labels, dict):
        result.report(entry, "node/labels", "error", "labels must be a map of strings", "metadata", "labels")
        return {}
    for key in [key for key, value in labels.items() if not isinstance(value, str)]:
        message = f"the label {key} of the node {entry.name} is not a string; put its value in quotes"
        result.report(entry, "node/labels", "error", message, "metadata", "labels", str(key), value=labels[key])
    return {str(key): value for key, value in labels.items() if isinstance(value, str)}


def _taints(entry: Sourced, result: Nodes) -> list[Taint]:
    taints = entry.field("spec", "taints") or []
    valid = []
    for position, taint in enumerate(taints if isinstance(taints, list) else [taints]):
        key, effect = (section(taint).get(name) for name in ("key", "effect"))
        if isinstance(key, str) and isinstance(effect, str):
            valid.append(Taint(key, str(taint.get("value") or ""), effect))
        else:
            result.report(entry, "node/taints", "error", "a taint must be a map with `key` and `effect`", "spec", "taints", position)
    return valid


def _allocatable(entry: Sourced, result: Nodes) -> Amounts:
    """Returns the node's allocatable amounts, or its capacity with a warning when it has none."""
    field, offered = "allocatable", entry.field("status", "allocatable")
    if not isinstance(offered, dict):
        field, offered = "capacity", section(entry.value, "status", "capacity")
        instead: tuple[Severity, str] = ("warning", "its capacity is used instead") if offered else ("error", "no pod fits on it")
        path = ("status",) if entry.field("status") else ("metadata", "name")
        result.report(entry, "node/no-allocatable", instead[0], f"the node {entry.name} has no status.allocatable; {instead[1]}", *path)
    valid: Amounts = {}
    for resource, value in offered.items():
        try:
            valid |= amounts({resource: value})
        except QuantityError as error:
            result.report(entry, "node/quantity", "error", f"the node {entry.name}: {error}", "status", field, str(resource), value=value)
    if valid and PODS not in valid:
        message = f"the node {entry.name} does not declare its maximum number of pods; the kubelet's default, {USUAL_PODS}, is assumed"
        result.report(entry, "node/no-pod-limit", "warning", message, "status", field)
        valid[PODS] = USUAL_PODS
    return valid


def _take_pods(pods: Iterable[Sourced], own_gangs: Collection[Key], result: Nodes) -> None:
    by_name = {node.name: node for node in reversed(result.cluster)}
    elsewhere: list[Sourced] = []
    for entry in pods:
        host = entry.field("spec", "nodeName")
        gang = entry.field("metadata", "namespace") or "default", entry.field("metadata", "labels", GANG_LABEL)
        if not host or gang in own_gangs or entry.field("status", "phase") in FINISHED:
            continue
        if isinstance(host, str) and host in by_name:
            _use(by_name[host], entry, result)
        else:
            elsewhere.append(entry)
    if elsewhere:
        message = f"{len(elsewhere)} pods run on nodes that are not in the file: {listed(entry.name for entry in elsewhere)}"
        result.report(elsewhere[0], "node/pod-elsewhere", "warning", message, "spec", "nodeName")


def _use(node: ClusterNode, entry: Sourced, result: Nodes) -> None:
    spec = entry.value["spec"]
    try:
        requested = request(spec)
    except QuantityError as error:
        result.report(entry, "node/quantity", "error", f"the pod {entry.name}: {error}", "spec")
        return
    node.ports |= host_ports(spec)
    for resource, number in requested.items():
        node.used[resource] = node.used.get(resource, 0) + number
