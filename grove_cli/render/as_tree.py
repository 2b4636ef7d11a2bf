"""Renders a graph for a terminal, as a tree of owners and their objects (`-o tree`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence

from grove_cli.render.picture import MAX_SIMILAR, Picture, Vertex, first_to_last, similarity_key
from grove_cli.terminal import Terminal, visible
from grove_cli.tree_rows import TreeRow, branched, tree_lines


def as_tree(picture: Picture, terminal: Terminal, whole: bool) -> str:
    """Returns a tree for each object without an owner in the graph. Of similar siblings only the first ones are drawn, unless `whole`."""
    lines = tree_lines(_Forest(picture, whole).rows(), terminal, terminal.width * 2 // 3)
    return "".join(f"{line}\n" for line in lines)


class _Forest:
    def __init__(self, picture: Picture, whole: bool) -> None:
        self.most = len(picture.vertices) if whole else MAX_SIMILAR
        self.names = {vertex.id: vertex.name for vertex in picture.vertices}
        self.domains = _domains(picture)
        self.children: dict[str, list[Vertex]] = defaultdict(list)
        for vertex in picture.vertices:
            self.children[vertex.owner if vertex.owner in self.names else ""].append(vertex)
        self.shapes = _shapes(self.children)

    def rows(self) -> Iterator[TreeRow]:
        for vertex in self.children[""]:
            yield self._row(vertex, "")
            yield from self._below(vertex, "")

    def _below(self, vertex: Vertex, indent: str) -> Iterator[TreeRow]:
        for (child, rest), before, below in branched(self._shown(self.children.get(vertex.id, ())), indent):
            if rest:
                yield TreeRow(before, f"… {len(rest)} more like it:", first_to_last([visible(each.name) for each in rest]), "")
            else:
                yield self._row(child, before)
                yield from self._below(child, below)

    def _shown(self, siblings: Sequence[Vertex]) -> list[tuple[Vertex, list[Vertex]]]:
        """Returns the children to draw. The last of similar ones stands for the list of those that are omitted."""
        similar: dict[int, list[Vertex]] = defaultdict(list)
        for child in siblings:
            similar[self.shapes[child.id]].append(child)
        shown: list[tuple[Vertex, list[Vertex]]] = []
        for group in similar.values():
            few = len(group) <= self.most + 1
            shown += [(child, []) for child in (group if few else group[:1])]
            if not few:
                shown.append((group[-1], group[1:]))
        return shown

    def _row(self, vertex: Vertex, before: str) -> TreeRow:
        parts = [f"step {vertex.level + 1}" if vertex.level >= 0 else "declared"]
        if vertex.gang and vertex.gang != vertex.id:
            parts.append(f"gang {self.names.get(vertex.gang, vertex.gang)}")
        parts += self.domains.get(vertex.id, ())
        return TreeRow(before, visible(vertex.kind), visible(vertex.name), visible(", ".join(parts)))


def _domains(picture: Picture) -> Mapping[str, list[str]]:
    """Returns the domains of each object, without repetition: a gang's constraint only at the gang, a clique's not at its pods."""
    kinds = {vertex.id: vertex.kind for vertex in picture.vertices}
    result: dict[str, list[str]] = defaultdict(list)
    for domain in picture.domains:
        for member in domain.members:
            is_repeated = member != domain.gang if domain.scope == "gang" else kinds.get(member) == "Pod"
            if domain.type == "mnnvl" or not is_repeated:
                result[member].append(domain.text)
    return result


def _shapes(children: Mapping[str, Sequence[Vertex]]) -> dict[str, int]:
    """Returns a number for each vertex, equal for similar vertices whose owned objects are similar, too."""
    numbers: dict[Hashable, int] = {}
    shapes: dict[str, int] = {}
    waiting = [(vertex, False) for vertex in children.get("", ())]
    while waiting:
        vertex, done = waiting.pop()
        if done:
            below = tuple(sorted(shapes[child.id] for child in children.get(vertex.id, ())))
            shapes[vertex.id] = numbers.setdefault((similarity_key(vertex), below), len(numbers))
        else:
            waiting.append((vertex, True))
            waiting += [(child, False) for child in children.get(vertex.id, ())]
    return shapes
