"""Groups the objects of a picture into the boxes that Mermaid and Graphviz draw: gangs and levels."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from grove_cli.render.picture import DECLARED, Picture, Vertex


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
