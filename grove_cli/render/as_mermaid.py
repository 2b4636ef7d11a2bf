"""Renders a graph as a Mermaid flowchart for Markdown (`-o mermaid`). Text is escaped, so that no name can break out of its label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from grove_cli.render.domains import STRONG, TINTS, mnnvl_colours, topology_colours
from grove_cli.render.edges import Edge
from grove_cli.render.picture import Box, Picture, boxes, is_displayable, label

PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,/_-:()…")
MAX_EDGES = 500
MAX_CHARACTERS = 50_000


def as_mermaid(picture: Picture, hidden: int) -> str:
    """Returns the picture as text. `hidden` is the number of objects that the picture omits, which a comment reports."""
    ids = {vertex.id: f"n{number}" for number, vertex in enumerate(picture.vertices)}
    body = [line for number, box in enumerate(boxes(picture)) for line in _subgraph(number, box, ids)]
    body += _edges([*picture.edges, *picture.startup], ids)
    body += _styles(picture, ids)
    text = "\n".join(f"  {line}" for line in body) + "\n"
    return "".join(f"{line}\n" for line in ["flowchart LR", *_comments(hidden, text, [*picture.edges, *picture.startup])]) + text


def escaped(text: str) -> str:
    """Returns the text for use in double quotes: characters with a meaning in Mermaid, Markdown or HTML become numeric entities.

    Characters that cannot be displayed, and those that XML forbids, become U+FFFD.
    """
    return "".join(character if character in PLAIN else _entity(character) for character in text)


def _entity(character: str) -> str:
    code = ord(character)
    return f"#{code if is_displayable(code) else 0xFFFD};"


def _text(lines: Sequence[str]) -> str:
    return '"' + "<br/>".join(escaped(line) for line in lines) + '"'


def _subgraph(number: int, box: Box, ids: dict[str, str]) -> Iterator[str]:
    yield f"subgraph b{number}[{_text(box.lines)}]"
    for vertex in box.vertices:
        opening, closing = ("([", "])") if vertex.note else ("[", "]")
        yield f"  {ids[vertex.id]}{opening}{_text(label(vertex))}{closing}"
    yield "end"


def _edges(edges: Iterable[Edge], ids: dict[str, str]) -> Iterator[str]:
    """Yields owners as solid lines, order as dotted ones, start-up order as thick ones. A point joins many sources to many targets."""
    for number, edge in enumerate(edges):
        sources, targets = (" & ".join(ids[node_id] for node_id in side) for side in (edge.sources, edge.targets))
        if edge.type == "owner":
            yield f"{sources} --> {targets}"
        elif edge.type == "startup":
            yield f"{sources} ==> {targets}"
        elif len(edge.sources) > 1 and len(edge.targets) > 1:
            yield f"{sources} -.- j{number}(( )) -.-> {targets}"
        else:
            yield f"{sources} -.-> {targets}"


def _styles(picture: Picture, ids: dict[str, str]) -> Iterator[str]:
    gangs = topology_colours(picture.domains)
    for number, box in enumerate(boxes(picture)):
        if box.gang in gangs:
            colour = gangs[box.gang]
            yield f"style b{number} fill:{TINTS[colour]},stroke:{STRONG[colour]},color:#111"
    for node_id, colour in mnnvl_colours(picture.domains).items():
        if node_id in ids:
            yield f"style {ids[node_id]} fill:{TINTS[colour]},stroke:{STRONG[colour]},stroke-width:3px,color:#111"


def _comments(hidden: int, text: str, edges: Sequence[Edge]) -> Iterator[str]:
    if hidden:
        yield f"  %% {hidden} similar objects are counted, not drawn; --all draws them"
    lines = sum(_lines(edge) for edge in edges)
    if lines > MAX_EDGES or len(text) > MAX_CHARACTERS:
        yield f"  %% {lines} lines, {len(text)} characters: Mermaid draws no more than its maxEdges ({MAX_EDGES}) and maxTextSize"
        yield f"  %% ({MAX_CHARACTERS}) allow; increase them, or use -o dot or -o html"


def _lines(edge: Edge) -> int:
    many = len(edge.sources) > 1 and len(edge.targets) > 1
    return len(edge.sources) + len(edge.targets) if many else len(edge.sources) * len(edge.targets)
