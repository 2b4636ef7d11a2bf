"""Finds the gang that each object belongs to."""

from __future__ import annotations

from collections.abc import Sequence

from grove_compiler.gangs.clique import key_of
from grove_compiler.gangs.gang import GANG_KIND, read_gang
from grove_compiler.graph.node import Node
from grove_compiler.labels import GANG_LABEL
from kube_objects.manifest import labels_of


def find_gangs(nodes: Sequence[Node]) -> dict[str, str]:
    """Returns the id of its PodGang for each object that has one, by the object's id. `nodes` are in apply order.

    A gang names its PodCliques in `spec.podgroups`; other objects name their gang in a label, or belong to that of their owner. A gang
    belongs to itself.
    """
    gangs: dict[str, str] = {}
    for node in nodes:
        if node.object.get("kind") == GANG_KIND:
            gangs[node.id] = node.id
            gangs.update((f"PodClique/{_place(node)}{name}", node.id) for name in read_gang(node.object).minimums)
    for node in nodes:
        if node.id not in gangs:
            gang = _labelled(node, gangs) or (gangs.get(node.owner.id) if node.owner is not None else None)
            if gang:
                gangs[node.id] = gang
    return gangs


def _labelled(node: Node, gangs: dict[str, str]) -> str:
    label = labels_of(node.object).get(GANG_LABEL)
    gang = f"{GANG_KIND}/{_place(node)}{label}"
    return gang if label and gangs.get(gang) == gang else ""


def _place(node: Node) -> str:
    namespace = key_of(node.object)[0]
    return f"{namespace}/" if namespace else ""
