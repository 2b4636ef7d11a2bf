"""Builds the picture of a graph that all formats render: objects with level, gang and order, their domains, similar ones, and boxes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from grove_cli.render.domains import Domain, find_domains
from grove_cli.render.edges import Edge, edges_of, merge, startup_edges, transitive_reduction
from grove_compiler.gangs.gang import GANG_KIND, read_gang
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.node import Manifest, Node, ObjectRef
from grove_compiler.labels import GANG_LABEL
from grove_compiler.record import record
from kube_objects.manifest import labels_of, namespace_of, namespaced_name

DECLARED = -1
"""The level of objects that are in the user's files and not in the graph."""
MAX_SIMILAR = 2
"""Up to one more than this, similar objects are all drawn; otherwise the first one is, and a line counts the others."""

_INDEX = re.compile(r"(?<![^-.])[0-9]+(?![^-.])")
_CLIQUE_FIELDS = ("roleName", "replicas", "minAvailable")


@record
class Vertex:
    """One object of a picture.

    `id` is the node's, `owner` and `gang` are ids of other vertices or empty. `level` counts from 0, or is `DECLARED`. `rule` is empty
    for declared objects. `object` is None if the object is unknown. A vertex that stands for several objects has a `note` with their names.
    """

    id: str
    kind: str
    name: str
    namespace: str
    rule: str
    level: int
    owner: str
    gang: str
    object: Manifest | None
    note: str = ""


@record
class Picture:
    """Vertices in apply order, declared ones first; the edges between them; topology and MNNVL domains; the start-up order."""

    vertices: list[Vertex]
    edges: list[Edge]
    domains: list[Domain]
    startup: list[Edge] = field(default_factory=list)

    @property
    def by_id(self) -> dict[str, Vertex]:
        return {vertex.id: vertex for vertex in self.vertices}

    @property
    def levels(self) -> int:
        """The number of waves in which the objects are applied."""
        return 1 + max((vertex.level for vertex in self.vertices), default=-1)


def draw(graph: CompiledGraph, declared: Mapping[str, Manifest]) -> Picture:
    """Returns the picture of a graph. `declared` has the user's manifests by id, for owners that are not in the graph.

    Raises `GraphCycle` if objects wait for each other.
    """
    levels = {id(node): level for level, wave in enumerate(graph.levels()) for node in wave}
    nodes = _with_unique_ids(graph.nodes)
    gangs = find_gangs(nodes)
    vertices = _owners_outside(nodes, declared)
    vertices += [_vertex(node, levels[id(original)], gangs) for node, original in zip(nodes, graph.nodes, strict=True)]
    return Picture(vertices, edges_of(nodes, graph.after), find_domains(nodes), startup_edges(nodes))


def simplify(picture: Picture) -> Picture:
    """Returns a picture of the same order with as few edges as possible, for readers and layout algorithms."""
    edges = transitive_reduction(picture.edges, [vertex.id for vertex in picture.vertices])
    return Picture(picture.vertices, merge(edges), picture.domains, merge(picture.startup))


def _with_unique_ids(nodes: Sequence[Node]) -> list[Node]:
    """Returns the nodes with unique ids: of kinds with the same name in two API groups, the second one's id includes the API version."""
    ids: set[str] = set()
    unique = []
    for node in nodes:
        if node.id in ids:
            node = node._replace(id=f"{node.id} ({node.object.get('apiVersion', '')})")
        ids.add(node.id)
        unique.append(node)
    return unique


def _owners_outside(nodes: Sequence[Node], declared: Mapping[str, Manifest]) -> list[Vertex]:
    """Returns the owners that are not in the graph themselves."""
    inside = {node.id for node in nodes}
    outside: dict[str, ObjectRef] = {}
    for node in nodes:
        if node.owner is not None and node.owner.id not in inside:
            outside.setdefault(node.owner.id, node.owner)
    return [Vertex(ref.id, ref.kind, ref.name, ref.namespace, "", DECLARED, "", "", declared.get(ref.id)) for ref in outside.values()]


def _vertex(node: Node, level: int, gangs: Mapping[str, str]) -> Vertex:
    owner = node.owner.id if node.owner is not None else ""
    namespace, name = namespaced_name(node.object)
    kind = str(node.object.get("kind", ""))
    return Vertex(node.id, kind, name, namespace, node.rule, level, owner, gangs.get(node.id, ""), node.object)


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
    namespace = namespace_of(node.object)
    return f"{namespace}/" if namespace else ""


def similarity_key(vertex: Vertex) -> Hashable:
    """Returns a key that is equal for objects of one rule whose names differ only in indices. Pods' names end in a hash and are ignored."""
    name = "" if vertex.kind == "Pod" else _INDEX.sub("#", vertex.name)
    return vertex.kind, vertex.rule, vertex.namespace, name, *_shape(vertex)


def _shape(vertex: Vertex) -> tuple[Hashable, ...]:
    if vertex.kind != "PodClique" or vertex.object is None:
        return ()
    spec = vertex.object.get("spec") or {}
    return tuple(str(spec.get(key)) for key in _CLIQUE_FIELDS)


def first_to_last(names: list[str]) -> str:
    """Returns `a`, or `a to b`."""
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


class Box(NamedTuple):
    """A gang, or the objects of a level that belong to none. `gang` is the gang's id or empty; `lines` are the title."""

    gang: str
    lines: list[str]
    vertices: list[Vertex]


def boxes(picture: Picture) -> list[Box]:
    """Returns the boxes of levels in their order, then of gangs in apply order. Every vertex is in one box."""
    levels: dict[int, list[Vertex]] = defaultdict(list)
    gangs: dict[str, list[Vertex]] = defaultdict(list)
    for vertex in picture.vertices:
        if vertex.gang:
            gangs[vertex.gang].append(vertex)
        else:
            levels[vertex.level].append(vertex)
    result = [Box("", ["declared" if level == DECLARED else f"step {level + 1}"], levels[level]) for level in sorted(levels)]
    names = {vertex.id: vertex.note or vertex.name for vertex in picture.vertices}
    folded = {vertex.id for vertex in picture.vertices if vertex.note}
    constraints = {domain.gang: domain.text for domain in picture.domains if domain.scope == "gang"}
    for gang, vertices in gangs.items():
        title = [f"{'gangs' if gang in folded else 'gang'} {names.get(gang, gang)}", constraints.get(gang, "")]
        result.append(Box(gang, [line for line in title if line], vertices))
    return result


def label(vertex: Vertex) -> list[str]:
    """Returns the lines of text on a vertex: its kind, then its name, or the note of a stand-in."""
    return [vertex.kind, vertex.note or vertex.name]


def is_displayable(code: int) -> bool:
    """Reports whether a picture may have a character: it is no control character, and XML allows it."""
    return not (code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE)
