"""What each set's objects add up to: replicas, their gangs, and the objects by kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from grove_compiler.gangs.clique import Clique, read_cliques
from grove_compiler.gangs.gang import Gang, read_gangs
from grove_compiler.graph.node import Node
from grove_compiler.record import record

SET_KIND = "PodCliqueSet"
LONGEST_CHAIN = 8
"""A claim, its PodClique, its scaling group, the set; a chain of owners that is longer runs in a circle."""


@record
class Replica:
    """Holds one replica of a set. A clique that belongs to no gang stands in one without a name."""

    index: int
    gangs: list[Gang] = field(default_factory=list)

    @property
    def cliques(self) -> list[Clique]:
        return [clique for gang in self.gangs for clique in gang.cliques]


@record
class SetObjects:
    """Holds what one set owns. `owner` is the set's id, empty for objects that no set owns; `kinds` counts objects."""

    owner: str
    nodes: Sequence[Node]
    kinds: dict[str, int]
    replicas: list[Replica]

    @property
    def cliques(self) -> list[Clique]:
        return [clique for replica in self.replicas for clique in replica.cliques]

    @property
    def gangs(self) -> list[Gang]:
        return [gang for replica in self.replicas for gang in replica.gangs if gang.name]


def objects_by_set(nodes: Sequence[Node]) -> list[SetObjects]:
    """Groups nodes by the set that owns them, in the order of the graph; what no set owns comes last."""
    owners = {node.id: node.owner.id for node in nodes if node.owner is not None}
    parts: dict[str, list[Node]] = {}
    for node in nodes:
        parts.setdefault(_set_of(node, owners), []).append(node)
    return [_set_objects(owner, parts[owner]) for owner in sorted(parts, key=lambda owner: not owner)]


def _set_of(node: Node, owners: Mapping[str, str]) -> str:
    """Returns the id of the PodCliqueSet at the end of a chain of owners."""
    owner = owners.get(node.id, "")
    for _ in range(LONGEST_CHAIN):
        owner = owners.get(owner, owner)
    return owner if owner.startswith(f"{SET_KIND}/") else ""


def _set_objects(owner: str, nodes: Sequence[Node]) -> SetObjects:
    kinds: dict[str, int] = {}
    for node in nodes:
        kind = node.object["kind"]
        kinds[kind] = kinds.get(kind, 0) + 1
    objects = [node.object for node in nodes]
    cliques = read_cliques(objects)
    gangs = read_gangs(objects, cliques)
    held = {id(clique) for gang in gangs for clique in gang.cliques}
    alone = [Gang.of_one(clique) for clique in cliques.values() if id(clique) not in held]
    return SetObjects(owner, nodes, kinds, _replicas([*gangs, *alone]))


def _replicas(gangs: Iterable[Gang]) -> list[Replica]:
    replicas: dict[int, Replica] = {}
    for gang in gangs:
        replicas.setdefault(gang.replica, Replica(gang.replica)).gangs.append(gang)
    return [replicas[index] for index in sorted(replicas)]
