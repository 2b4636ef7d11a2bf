"""Collapses a large picture: of similar objects it retains a few, and a stand-in that counts the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from grove_cli.render.domains import Domain
from grove_cli.render.edges import Edge, merge
from grove_cli.render.picture import MAX_SIMILAR, Picture, Vertex, first_to_last, similarity_key


def collapse(picture: Picture) -> Picture:
    """Returns a picture with the first of similar gangs and a stand-in for the others; then the same for siblings of one rule and gang.

    The order is preserved: edges of a hidden object become edges of its stand-in. Stand-ins have a `note` and no object.
    """
    folding = _Folding(picture)
    folding.fold_gangs()
    folding.fold_siblings()
    vertices = folding.vertices()
    startup = merge(_edges(picture.startup, folding.drawn))
    return Picture(vertices, merge(_edges(picture.edges, folding.drawn)), _domains(picture.domains, folding.drawn), startup)


class _Folding:
    """Hides objects behind stand-ins. `drawn` maps the id of each hidden object to that of its stand-in."""

    def __init__(self, picture: Picture) -> None:
        self.all = picture.vertices
        self.by_id = picture.by_id
        self.drawn: dict[str, str] = {}
        self.stand_ins: dict[str, Vertex] = {}

    def fold_gangs(self) -> None:
        members: dict[str, list[Vertex]] = defaultdict(list)
        for vertex in self.all:
            if vertex.gang:
                members[vertex.gang].append(vertex)
        similar: dict[Hashable, list[Vertex]] = defaultdict(list)
        for node_id, inside in members.items():
            gang = self.by_id[node_id]
            similar[gang.owner, frozenset(Counter(map(similarity_key, inside)).items())].append(gang)
        for gangs in similar.values():
            if len(gangs) > MAX_SIMILAR + 1:
                self._hide_gangs(gangs[1:], [vertex for gang in gangs[1:] for vertex in members[gang.id]])

    def fold_siblings(self) -> None:
        for generation in self._generations():
            similar: dict[Hashable, list[Vertex]] = defaultdict(list)
            for vertex in generation:
                similar[vertex.gang, self._drawn(vertex.owner), similarity_key(vertex)].append(vertex)
            for vertices in similar.values():
                if self._drawn(vertices[0].owner) in self.stand_ins:  # their owners are hidden, so they cannot be drawn individually
                    self._hide(vertices, f"{len(vertices)} in all: {_names(vertices)}")
                elif len(vertices) > MAX_SIMILAR + 1:
                    self._hide(vertices[1:], f"… {len(vertices) - 1} more like it: {_names(vertices[1:])}")

    def vertices(self) -> list[Vertex]:
        """Returns the vertices to draw in apply order, each stand-in at the position of its first object."""
        result: dict[str, Vertex] = {}
        for vertex in self.all:
            name = self._drawn(vertex.id)
            if name not in result:
                shown = self.stand_ins.get(name, vertex)
                result[name] = replace(shown, owner=self._drawn(shown.owner))
        return list(result.values())

    def _generations(self) -> Iterable[list[Vertex]]:
        """Returns the vertices that are not hidden yet, by the length of their chain of owners."""
        depth: dict[str, int] = {}
        generations: dict[int, list[Vertex]] = defaultdict(list)
        for vertex in self.all:
            depth[vertex.id] = depth.get(vertex.owner, -1) + 1
            if vertex.id not in self.drawn:
                generations[depth[vertex.id]].append(vertex)
        return [generations[length] for length in sorted(generations)]

    def _hide_gangs(self, gangs: Sequence[Vertex], objects: Sequence[Vertex]) -> None:
        """Replaces similar gangs by a gang of stand-ins: one for the gangs, and one for each group of similar objects in them."""
        similar: dict[Hashable, list[Vertex]] = defaultdict(list)
        for vertex in objects:
            if vertex.id != vertex.gang:
                similar[similarity_key(vertex)].append(vertex)
        node_id = self._hide(gangs, f"… {len(gangs)} more like it: {_names(gangs)}")
        self.stand_ins[node_id].gang = node_id
        for vertices in similar.values():
            self._hide(vertices, f"{len(vertices)} in all: {_names(vertices)}", gang=node_id)

    def _hide(self, vertices: Sequence[Vertex], note: str, gang: str | None = None) -> str:
        first = vertices[0]
        node_id = f"{first.id} and more"
        self.stand_ins[node_id] = replace(first, id=node_id, object=None, note=note, gang=first.gang if gang is None else gang)
        self.drawn.update((vertex.id, node_id) for vertex in vertices)
        return node_id

    def _drawn(self, node_id: str) -> str:
        return self.drawn.get(node_id, node_id)


def _names(vertices: Sequence[Vertex]) -> str:
    return first_to_last([vertex.name for vertex in vertices])


def _edges(edges: Iterable[Edge], drawn: Mapping[str, str]) -> Iterable[Edge]:
    for edge in edges:
        sources = _unique(edge.sources, drawn)
        targets = [target for target in _unique(edge.targets, drawn) if target not in sources]
        if targets:
            yield Edge(edge.type, sources, targets)


def _domains(domains: Iterable[Domain], drawn: Mapping[str, str]) -> list[Domain]:
    """Returns the domains, with the members that are drawn individually."""
    visible = [replace(domain, members=[member for member in domain.members if member not in drawn]) for domain in domains]
    return [domain for domain in visible if domain.members]


def _unique(ids: Iterable[str], drawn: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(drawn.get(node_id, node_id) for node_id in ids))
