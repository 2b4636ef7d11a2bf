"""Which field of a set a scale subresource changes: its own, a scaling group's or a clique's."""

from __future__ import annotations

from grove_compiler.graph.field_path import FieldPath
from grove_compiler.model.spec.podcliqueset import PodCliqueSet


def declared_replicas_path(set: PodCliqueSet, kind: str, name: str) -> FieldPath | None:
    """Where the set declares the replicas of itself, or of one of its PodCliqueScalingGroups or PodCliques.

    The object is found by its exact name, in any replica of the set and of its scaling groups, also in one that does not exist.
    None when there is no such child.
    """
    if kind == "PodCliqueSet":
        return ("spec", "replicas") if name == set.name else None
    own = _after_index(name, set.name)
    if kind == "PodCliqueScalingGroup":
        group = next((group for group in set.groups if group.name == own), None)
        return None if group is None else ("spec", "template", "podCliqueScalingGroups", group.index, "replicas")
    if kind != "PodClique":
        return None
    for clique in set.cliques:
        if clique.name == (own if clique.group is None else _after_index(own, clique.group.name)):
            return "spec", "template", "cliques", clique.index, "spec", "replicas"
    return None


def _after_index(name: str, prefix: str) -> str:
    """What follows `<prefix>-<index>-`; empty when the name does not begin so."""
    rest = name[len(prefix) + 1 :] if name.startswith(f"{prefix}-") else ""
    index, _, tail = rest.partition("-")
    return tail if index.isascii() and index.isdigit() else ""
