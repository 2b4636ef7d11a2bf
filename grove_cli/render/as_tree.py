"""Renders a graph for a terminal, as a tree of owners and their objects (`-o tree`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from grove_cli.render.picture import MAX_SIMILAR, Picture, Vertex, first_to_last, similarity_key
from grove_cli.terminal import MIN_NAME_WIDTH, Terminal, fitted, visible


class _Row(NamedTuple):
    """A line: its branches, kind and name, and a column with details."""

    branches: str
    kind: str
    name: str
    detail: str

    @property
    def width(self) -> int:
        return len(self.branches) + len(self.kind) + 1 + len(self.name)


def as_tree(picture: Picture, terminal: Terminal, whole: bool) -> str:
    """Returns a tree for each object without an owner in the graph. Of similar siblings only the first ones are drawn, unless `whole`."""
    rows = list(_Forest(picture, whole).rows())
    widest = max((row.width for row in rows if row.detail), default=0)
    column = min(widest, terminal.width * 2 // 3 if terminal.wraps else widest)
    return "".join(f"{_line(row, column, terminal)}\n" for row in rows)


def _line(row: _Row, column: int, terminal: Terminal) -> str:
    room = (column if row.detail else terminal.width) if terminal.wraps else row.width
    name = fitted(row.name, max(MIN_NAME_WIDTH, room - row.width + len(row.name)))
    left = row.branches + terminal.paint(row.kind, "2" if row.name else "2;3") + (f" {name}" if name else "")
    if not row.detail:
        return left
    used = row.width - len(row.name) + len(name)
    rest = terminal.width - max(column, used) - 2 if terminal.wraps else len(row.detail)
    detail = fitted(row.detail, rest) if rest >= min(MIN_NAME_WIDTH, len(row.detail)) else ""
    return left + " " * (max(column - used, 0) + 2) + terminal.paint(detail, "2") if detail else left


class _Forest:
    def __init__(self, picture: Picture, whole: bool) -> None:
        self.most = len(picture.vertices) if whole else MAX_SIMILAR
        self.names = {vertex.id: vertex.name for vertex in picture.vertices}
        self.domains = _domains(picture)
        self.children: dict[str, list[Vertex]] = defaultdict(list)
        for vertex in picture.vertices:
            self.children[vertex.owner if vertex.owner in self.names else ""].append(vertex)
        self.shapes = _shapes(self.children)

    def rows(self) -> Iterator[_Row]:
        for vertex in self.children[""]:
            yield self._row(vertex, "")
            yield from self._below(vertex, "")

    def _below(self, vertex: Vertex, indent: str) -> Iterator[_Row]:
        shown = self._shown(self.children.get(vertex.id, ()))
        for position, (child, rest) in enumerate(shown):
            last = position == len(shown) - 1
            before = indent + ("└─ " if last else "├─ ")
            if rest:
                yield _Row(before, f"… {len(rest)} more like it:", first_to_last([visible(each.name) for each in rest]), "")
            else:
                yield self._row(child, before)
                yield from self._below(child, indent + ("   " if last else "│  "))

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

    def _row(self, vertex: Vertex, before: str) -> _Row:
        parts = [f"step {vertex.level + 1}" if vertex.level >= 0 else "declared"]
        if vertex.gang and vertex.gang != vertex.id:
            parts.append(f"gang {self.names.get(vertex.gang, vertex.gang)}")
        parts += self.domains.get(vertex.id, ())
        return _Row(before, visible(vertex.kind), visible(vertex.name), visible(", ".join(parts)))


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
