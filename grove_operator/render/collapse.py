"""A large picture made small: of objects that repeat, a few and a stand-in that counts the rest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from grove_operator.render.domains import Domain
from grove_operator.render.edges import Edge, merged
from grove_operator.render.likeness import MOST_ALIKE, first_to_last, likeness
from grove_operator.render.picture import Picture, Vertex


def collapse(picture: Picture) -> Picture:
    """Returns of gangs that are alike, the first and a stand-in; then the same for other objects with one owner, rule and gang.

    Nothing is lost from the order: an edge of a hidden object is one of its stand-in. Stand-ins have a `note` and no object.
    """
    folding = _Folding(picture)
    folding.fold_gangs()
    folding.fold_siblings()
    vertices = folding.vertices()
    startup = merged(_edges(picture.startup, folding.drawn))
    return Picture(vertices, merged(_edges(picture.edges, folding.drawn)), _domains(picture.domains, folding.drawn), startup)


class _Folding:
    """`drawn` says, for each hidden object, the id of the stand-in that is drawn for it."""

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
        alike: dict[Hashable, list[Vertex]] = defaultdict(list)
        for id, inside in members.items():
            gang = self.by_id[id]
            alike[gang.owner, frozenset(Counter(map(likeness, inside)).items())].append(gang)
        for gangs in alike.values():
            if len(gangs) > MOST_ALIKE + 1:
                self._hide_gangs(gangs[1:], [vertex for gang in gangs[1:] for vertex in members[gang.id]])

    def fold_siblings(self) -> None:
        for generation in self._generations():
            alike: dict[Hashable, list[Vertex]] = defaultdict(list)
            for vertex in generation:
                alike[vertex.gang, self._drawn(vertex.owner), likeness(vertex)].append(vertex)
            for vertices in alike.values():
                if self._drawn(vertices[0].owner) in self.stand_ins:  # with hidden owners these cannot be drawn one by one
                    self._hide(vertices, f"{len(vertices)} in all: {_names(vertices)}")
                elif len(vertices) > MOST_ALIKE + 1:
                    self._hide(vertices[1:], f"… {len(vertices) - 1} more like it: {_names(vertices[1:])}")

    def vertices(self) -> list[Vertex]:
        """Returns what is drawn, in apply order; a stand-in in the place of the first object that it stands for."""
        result: dict[str, Vertex] = {}
        for vertex in self.all:
            name = self._drawn(vertex.id)
            if name not in result:
                shown = self.stand_ins.get(name, vertex)
                result[name] = replace(shown, owner=self._drawn(shown.owner))
        return list(result.values())

    def _generations(self) -> Iterable[list[Vertex]]:
        """Returns what is not hidden yet, by the length of the chain of owners."""
        depth: dict[str, int] = {}
        generations: dict[int, list[Vertex]] = defaultdict(list)
        for vertex in self.all:
            depth[vertex.id] = depth.get(vertex.owner, -1) + 1
            if vertex.id not in self.drawn:
                generations[depth[vertex.id]].append(vertex)
        return [generations[length] for length in sorted(generations)]

    def _hide_gangs(self, gangs: Sequence[Vertex], objects: Sequence[Vertex]) -> None:
        """Makes one gang of stand-ins: one for the gangs, and one for each of the things that every one of them holds."""
        alike: dict[Hashable, list[Vertex]] = defaultdict(list)
        for vertex in objects:
            if vertex.id != vertex.gang:
                alike[likeness(vertex)].append(vertex)
        id = self._hide(gangs, f"… {len(gangs)} more like it: {_names(gangs)}")
        self.stand_ins[id].gang = id
        for vertices in alike.values():
            self._hide(vertices, f"{len(vertices)} in all: {_names(vertices)}", gang=id)

    def _hide(self, vertices: Sequence[Vertex], note: str, gang: str | None = None) -> str:
        first = vertices[0]
        id = f"{first.id} and more"
        self.stand_ins[id] = replace(first, id=id, object=None, note=note, gang=first.gang if gang is None else gang)
        self.drawn.update((vertex.id, id) for vertex in vertices)
        return id

    def _drawn(self, id: str) -> str:
        return self.drawn.get(id, id)


def _names(vertices: Sequence[Vertex]) -> str:
    return first_to_last([vertex.name for vertex in vertices])


def _edges(edges: Iterable[Edge], drawn: Mapping[str, str]) -> Iterable[Edge]:
    for edge in edges:
        sources = _each_once(edge.sources, drawn)
        targets = [target for target in _each_once(edge.targets, drawn) if target not in sources]
        if targets:
            yield Edge(edge.type, sources, targets)


def _domains(domains: Iterable[Domain], drawn: Mapping[str, str]) -> list[Domain]:
    """Returns the domains of what is still drawn one by one."""
    seen = [replace(domain, members=[member for member in domain.members if member not in drawn]) for domain in domains]
    return [domain for domain in seen if domain.members]


def _each_once(ids: Iterable[str], drawn: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(drawn.get(id, id) for id in ids))
