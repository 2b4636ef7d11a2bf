"""Finds the field of a set that a scale subresource changes (its own, a scaling group's or a clique's), and foreign autoscalers of it."""

from __future__ import annotations

from grove_compiler.graph.field_path import FieldPath
from grove_compiler.model.expanded.context import SetInContext
from grove_compiler.model.spec.podcliqueset import API_VERSION, PodCliqueSet
from grove_compiler.record import record


@record
class ForeignAutoscaler:
    """A HorizontalPodAutoscaler that exists and scales a part of a set; `target` is `Kind/name` of that part."""

    name: str
    target: str


def foreign_autoscalers(pcs: SetInContext) -> list[ForeignAutoscaler]:
    """Returns the autoscalers that scale the set, its scaling groups or its cliques, including those that the set itself generates.

    The operator reads only those of the set's own namespace: in a cluster every object has one.
    """
    namespace, foreign = pcs.namespace if pcs.settings.is_operator else "", []
    for manifest in pcs.snapshot.labelled("autoscaling", "HorizontalPodAutoscaler", namespace=namespace):
        metadata, target = manifest.get("metadata") or {}, (manifest.get("spec") or {}).get("scaleTargetRef") or {}
        kind, name = target.get("kind") or "", target.get("name") or ""
        is_here = (metadata.get("namespace") or pcs.default_namespace) == pcs.namespace and target.get("apiVersion") == API_VERSION
        if is_here and declared_replicas_path(pcs, kind, name) is not None:
            foreign.append(ForeignAutoscaler(metadata.get("name") or "", f"{kind}/{name}"))
    return foreign


def declared_replicas_path(pcs: PodCliqueSet, kind: str, name: str) -> FieldPath | None:
    """Returns the field in which the set declares the replicas of itself, of a PodCliqueScalingGroup or of a PodClique.

    The object is found by its exact name, in any replica of the set and of its scaling groups, even one that does not exist. Returns None
    when the set has no such child.
    """
    if kind == "PodCliqueSet":
        return ("spec", "replicas") if name == pcs.name else None
    own = _after_index(name, pcs.name)
    if kind == "PodCliqueScalingGroup":
        group = next((group for group in pcs.groups if group.name == own), None)
        return None if group is None else ("spec", "template", "podCliqueScalingGroups", group.index, "replicas")
    if kind != "PodClique":
        return None
    for clique in pcs.cliques:
        if clique.name == (own if clique.group is None else _after_index(own, clique.group.name)):
            return "spec", "template", "cliques", clique.index, "spec", "replicas"
    return None


def _after_index(name: str, prefix: str) -> str:
    """Returns what follows `<prefix>-<index>-`; empty when the name does not begin like that."""
    rest = name[len(prefix) + 1 :] if name.startswith(f"{prefix}-") else ""
    index, _, tail = rest.partition("-")
    return tail if index.isascii() and index.isdigit() else ""
