"""Groups objects by set: its replicas, their gangs, and the number of objects of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from grove_compiler.gangs.clique import CompiledClique, read_cliques
from grove_compiler.gangs.gang import CompiledGang, read_gangs
from grove_compiler.graph.node import Node
from grove_compiler.record import record

SET_KIND = "PodCliqueSet"
MAX_CHAIN = 8
"""The most owners that are followed. A real chain is claim, PodClique, scaling group, set; one longer than this is a cycle."""


@record
class CompiledReplica:
    """Holds one replica of a set. A clique that belongs to no gang is in a gang without a name."""

    index: int
    gangs: list[CompiledGang] = field(default_factory=list)

    @property
    def cliques(self) -> list[CompiledClique]:
        return [clique for gang in self.gangs for clique in gang.cliques]


@record
class SetObjects:
    """Holds the objects of one set. `owner` is the set's id, empty for objects that no set owns; `kinds` counts objects by kind."""

    owner: str
    nodes: Sequence[Node]
    kinds: dict[str, int]
    replicas: list[CompiledReplica]

    @property
    def cliques(self) -> list[CompiledClique]:
        return [clique for replica in self.replicas for clique in replica.cliques]

    @property
    def gangs(self) -> list[CompiledGang]:
        return [gang for replica in self.replicas for gang in replica.gangs if gang.name]


def objects_by_set(nodes: Sequence[Node]) -> list[SetObjects]:
    """Groups nodes by the set that owns them, directly or through other owners, in graph order; nodes without a set come last."""
    owners = {node.id: node.owner.id for node in nodes if node.owner is not None}
    parts: dict[str, list[Node]] = {}
    for node in nodes:
        parts.setdefault(_set_of(node, owners), []).append(node)
    return [_set_objects(owner, parts[owner]) for owner in sorted(parts, key=lambda owner: not owner)]


def _set_of(node: Node, owners: Mapping[str, str]) -> str:
    """Returns the id of the PodCliqueSet at the end of the chain of owners; empty where the chain ends elsewhere."""
    owner = owners.get(node.id, "")
    for _ in range(MAX_CHAIN):
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
    ganged = {id(clique) for gang in gangs for clique in gang.cliques}
    single = [CompiledGang.of_one(clique) for clique in cliques.values() if id(clique) not in ganged]
    return SetObjects(owner, nodes, kinds, _replicas([*gangs, *single]))


def _replicas(gangs: Iterable[CompiledGang]) -> list[CompiledReplica]:
    replicas: dict[int, CompiledReplica] = {}
    for gang in gangs:
        replicas.setdefault(gang.replica, CompiledReplica(gang.replica)).gangs.append(gang)
    return [replicas[index] for index in sorted(replicas)]
