"""Which gang each object belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grove_compiler.graph.node import Node

GANG_KIND = "PodGang"
GANG_LABEL = "grove.io/podgang"


def find_gangs(nodes: Sequence[Node]) -> dict[str, str]:
    """The id of its PodGang for each object that has one, by the object's id. `nodes` are in apply order.

    A gang names its PodCliques in `spec.podgroups`; other objects name their gang in a label; the rest goes with its owner. A gang
    belongs to itself.
    """
    gangs: dict[str, str] = {}
    for node in nodes:
        if node.object.get("kind") == GANG_KIND:
            gangs[node.id] = node.id
            gangs.update((f"PodClique/{_place(node)}{group['name']}", node.id) for group in groups(node.object))
    for node in nodes:
        if node.id not in gangs:
            found = _labelled(node, gangs) or (gangs.get(node.owner.id) if node.owner is not None else None)
            if found:
                gangs[node.id] = found
    return gangs


def groups(gang: dict[str, Any]) -> list[dict[str, Any]]:
    """The pod groups of a PodGang's manifest that have a name."""
    listed = (gang.get("spec") or {}).get("podgroups") or []
    return [group for group in listed if isinstance(group, dict) and group.get("name")]


def _labelled(node: Node, gangs: dict[str, str]) -> str:
    label = ((node.object.get("metadata") or {}).get("labels") or {}).get(GANG_LABEL)
    gang = f"{GANG_KIND}/{_place(node)}{label}"
    return gang if label and gangs.get(gang) == gang else ""


def _place(node: Node) -> str:
    namespace = (node.object.get("metadata") or {}).get("namespace")
    return f"{namespace}/" if namespace else ""
