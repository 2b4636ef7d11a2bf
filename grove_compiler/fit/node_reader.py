"""From v1 Node and Pod manifests to the cluster that gangs are placed on, with all that is wrong with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from grove_compiler.fit.cluster import Cluster, ClusterNode, Taint
from grove_compiler.fit.manifests import Source, Sourced, objects_of
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.nearest import nearest
from grove_compiler.kube.pod_request import PODS, Amounts, amounts, host_ports, request
from grove_compiler.kube.quantity import QuantityError

USUAL_PODS = 110
"""The kubelet's own limit where a node does not tell one."""
FINISHED = ("Succeeded", "Failed")
GANG = "grove.io/podgang"
PREFIX = 3
"""So many names are told before the rest is counted."""


@dataclass(slots=True, eq=False)
class Nodes:
    """What a nodes file says. `manifests` holds for each node of `cluster`, in order, the object it was read from."""

    cluster: Cluster = field(default_factory=list)
    manifests: list[Sourced] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    own_pods: int = 0


def read_nodes(sources: Iterable[Source], own_gangs: Collection[tuple[str, str]] = ()) -> Nodes:
    """Returns the nodes of a file, less what the Pods of the same file use.

    Pods of `own_gangs`, by namespace and name, take nothing: whether these gangs can be placed is the question.
    """
    result = Nodes()
    pods = []
    for entry in objects_of(sources):
        if entry.kind == "Node":
            _take_node(entry, result)
        elif entry.kind == "Pod":
            pods.append(entry)
        else:
            _reject(entry, result)
    _take_pods(pods, own_gangs, result)
    if not result.cluster and not result.findings:
        result.findings.append(Diagnostic("node/none", "error", "there is no Node in the nodes file"))
    return result


def names(values: Iterable[str]) -> str:
    """Returns `a, b, c and 4 more`."""
    known = list(values)
    rest = f" and {len(known) - PREFIX} more" if len(known) > PREFIX else ""
    return ", ".join(known[:PREFIX]) + rest


def _reject(entry: Sourced, result: Nodes) -> None:
    if not isinstance(entry.value, dict) or not entry.kind or "kind" not in entry.value:
        result.findings.append(entry.finding("node/not-an-object", "error", "not a Kubernetes object: expected a Node or a Pod"))
        return
    likely = nearest(entry.kind, ["Node", "Pod"])
    message = f"{entry.kind} is neither a Node nor a Pod and has no part in the answer"
    result.findings.append(entry.finding("node/ignored", "warning", message, ("kind",), nearest=likely))


def _take_node(entry: Sourced, result: Nodes) -> None:
    if not entry.name:
        result.findings.append(entry.finding("node/no-name", "error", "a Node without metadata.name", ("metadata",), type="Required value"))
        return
    node = ClusterNode(entry.name, _labels(entry, result), _allocatable(entry, result), _taints(entry, result))
    node.unschedulable = entry.field("spec", "unschedulable") is True
    result.cluster.append(node)
    result.manifests.append(entry)


def _labels(entry: Sourced, result: Nodes) -> dict[str, str]:
    labels = entry.field("metadata", "labels")
    if labels is None:
        return {}
    if not isinstance(labels, dict):
        result.findings.append(entry.finding("node/labels", "error", "labels are a map of texts", ("metadata", "labels")))
        return {}
    for key, value in labels.items():
        if not isinstance(value, str):
            message = f"the label {key} of the node {entry.name} is not text; put its value in quotes"
            result.findings.append(entry.finding("node/labels", "error", message, ("metadata", "labels", str(key)), value=value))
    return {str(key): value for key, value in labels.items() if isinstance(value, str)}


def _taints(entry: Sourced, result: Nodes) -> list[Taint]:
    taints = entry.field("spec", "taints") or []
    found = []
    for position, taint in enumerate(taints if isinstance(taints, list) else [taints]):
        if isinstance(taint, dict) and isinstance(taint.get("key"), str) and isinstance(taint.get("effect"), str):
            found.append(Taint(taint["key"], str(taint.get("value") or ""), taint["effect"]))
        else:
            path: FieldPath = ("spec", "taints", position)
            result.findings.append(entry.finding("node/taints", "error", "a taint is a map with `key` and `effect`", path))
    return found


def _allocatable(entry: Sourced, result: Nodes) -> Amounts:
    """Returns what the node offers. Without `allocatable`, `capacity` stands in for it."""
    field = "allocatable"
    if not isinstance(entry.field("status", field), dict):
        field = "capacity"
        result.findings.append(_not_allocatable(entry, isinstance(entry.field("status", field), dict)))
    offered = entry.field("status", field)
    found: Amounts = {}
    for resource, value in offered.items() if isinstance(offered, dict) else ():
        try:
            found |= amounts({resource: value})
        except QuantityError as error:
            path = ("status", field, str(resource))
            result.findings.append(entry.finding("node/quantity", "error", f"the node {entry.name}: {error}", path, value=value))
    if found and PODS not in found:
        message = f"the node {entry.name} does not say how many pods it takes; {USUAL_PODS}, the kubelet's own limit, is taken for it"
        result.findings.append(entry.finding("node/no-pod-limit", "warning", message, ("status", field)))
        found[PODS] = USUAL_PODS
    return found


def _not_allocatable(entry: Sourced, has_capacity: bool) -> Diagnostic:
    path: FieldPath = ("status",) if entry.field("status") else ("metadata", "name")
    start = f"the node {entry.name} has no status.allocatable; "
    if has_capacity:
        return entry.finding("node/no-allocatable", "warning", f"{start}its capacity is taken for it", path)
    return entry.finding("node/no-allocatable", "error", f"{start}no pod fits on it", path)


def _take_pods(pods: list[Sourced], own_gangs: Collection[tuple[str, str]], result: Nodes) -> None:
    by_name = {node.name: node for node in reversed(result.cluster)}
    strangers: list[Sourced] = []
    for entry in pods:
        host = entry.field("spec", "nodeName")
        if not host or entry.field("status", "phase") in FINISHED:
            continue
        if (entry.field("metadata", "namespace") or "default", entry.field("metadata", "labels", GANG)) in own_gangs:
            result.own_pods += 1
        elif not isinstance(host, str) or host not in by_name:
            strangers.append(entry)
        else:
            _use(by_name[host], entry, result)
    if strangers:
        message = f"{len(strangers)} pods run on nodes that are not in the file: {names(entry.name for entry in strangers)}"
        result.findings.append(strangers[0].finding("node/pod-elsewhere", "warning", message, ("spec", "nodeName")))


def _use(node: ClusterNode, entry: Sourced, result: Nodes) -> None:
    spec: dict[str, Any] = entry.value["spec"]
    try:
        asked = request(spec)
    except QuantityError as error:
        result.findings.append(entry.finding("node/quantity", "error", f"the pod {entry.name}: {error}", ("spec",)))
        return
    node.pods += 1
    node.ports |= host_ports(spec)
    for resource, number in asked.items():
        node.used[resource] = node.used.get(resource, 0) + number
