"""Renders a graph for Graphviz (`-o dot`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from grove_cli.render.domains import STRONG, TINTS, mnnvl_colours, topology_colours
from grove_cli.render.edges import Edge
from grove_cli.render.picture import Box, Picture, Vertex, boxes, is_displayable, label

HEAD = """\
digraph grove {
  graph [rankdir=LR, fontname="sans-serif", fontsize=11, ranksep=0.8]
  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif", fontsize=10]
  edge [color="#555555", arrowsize=0.6]
"""
STARTUP = 'color="#0b6bb8", penwidth=2, constraint=false, tooltip="starts before"'
"""The attributes of a start-up edge. It does not affect the layout, since objects are not applied in this order."""


def as_dot(picture: Picture, hidden: int) -> str:
    """Returns the picture as text. `hidden` is the number of objects that the picture omits, which a comment reports."""
    ids = {vertex.id: f"n{number}" for number, vertex in enumerate(picture.vertices)}
    comment = f"// {hidden} similar objects are counted, not drawn; --all draws them\n" if hidden else ""
    colours = topology_colours(picture.domains), mnnvl_colours(picture.domains)
    lines = [line for number, box in enumerate(boxes(picture)) for line in _cluster(number, box, ids, *colours)]
    lines += _edges([*picture.edges, *picture.startup], ids)
    return comment + HEAD + "".join(f"  {line}\n" for line in lines) + "}\n"


def quoted(lines: Sequence[str]) -> str:
    r"""Returns the lines as one quoted string, with `\`, quotes and, for the entities of labels, `&` escaped.

    Characters that cannot be displayed, and those that XML forbids, become U+FFFD.
    """
    return '"' + "\\n".join("".join(map(_character, line)) for line in lines) + '"'


def _character(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character == "&":
        return "&amp;"
    return character if is_displayable(ord(character)) else "\ufffd"


def _cluster(number: int, box: Box, ids: dict[str, str], gangs: dict[str, int], domains: dict[str, int]) -> Iterator[str]:
    yield f"subgraph cluster_{number} {{"
    yield f"  label={quoted(box.lines)}"
    yield f"  {_box_style(box, gangs)}"
    for vertex in box.vertices:
        yield f"  {ids[vertex.id]} [label={quoted(label(vertex))}{_style(vertex, domains)}]"
    yield "}"


def _box_style(box: Box, gangs: dict[str, int]) -> str:
    if box.gang in gangs:
        return f'style="rounded,filled"; fillcolor="{TINTS[gangs[box.gang]]}"; color="{STRONG[gangs[box.gang]]}"'
    return 'style=rounded; color="#555555"' if box.gang else 'style=dashed; color="#999999"'


def _style(vertex: Vertex, domains: dict[str, int]) -> str:
    if vertex.note:
        return ', style="rounded,dashed"'
    if vertex.id in domains:
        return f', fillcolor="{TINTS[domains[vertex.id]]}", color="{STRONG[domains[vertex.id]]}", penwidth=2'
    return ""


def _edges(edges: Iterable[Edge], ids: dict[str, str]) -> Iterator[str]:
    """Yields owners as solid lines, order as dashed ones, start-up order as thick ones. A point joins many sources to many targets."""
    for number, edge in enumerate(edges):
        sources, targets = (_group(ids[node_id] for node_id in side) for side in (edge.sources, edge.targets))
        if edge.type == "owner":
            yield f"{sources} -> {targets}"
        elif edge.type == "startup":
            yield f"{sources} -> {targets} [{STARTUP}]"
        elif len(edge.sources) > 1 and len(edge.targets) > 1:
            yield f"j{number} [shape=point]"
            yield f"{sources} -> j{number} [style=dashed, arrowhead=none]"
            yield f"j{number} -> {targets} [style=dashed]"
        else:
            yield f"{sources} -> {targets} [style=dashed]"


def _group(ids: Iterable[str]) -> str:
    names = list(ids)
    return names[0] if len(names) == 1 else "{" + " ".join(names) + "}"
