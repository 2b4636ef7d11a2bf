"""Renders a graph as a self-contained HTML page (`-o html`), from the sources in `page/`. It needs neither network nor server."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from typing import Any

from grove_cli.render.input_lines import Lines
from grove_cli.render.packer import Packer
from grove_cli.render.page_file import page_file
from grove_cli.render.picture import DECLARED, Picture
from grove_compiler.gangs.clique import read_cliques
from grove_compiler.gangs.gang import GANG_KIND, read_gangs
from grove_compiler.source.yaml_reader import read_yaml
from grove_compiler.source.yaml_writer import iter_yaml

SCRIPTS = (
    "graph.js",
    "colours.js",
    "fold.js",
    "layout.js",
    "viewport.js",
    "routes.js",
    "labels.js",
    "cards.js",
    "canvas.js",
    "minimap.js",
    "export.js",
    "search.js",
    "yaml.js",
    "outline.js",
    "details.js",
    "sidebar.js",
    "pointer.js",
    "keyboard.js",
    "main.js",
)
"""The files of the page's script, in order: each may use the definitions of those before it."""
LIVE = ("live.js",)
"""Additional files of a page that is served (`grove serve`)."""

_SLOT = re.compile(r"\{\{ (\w+) \}\}")


def as_html(
    picture: Picture, docs: Mapping[str, str], states: Mapping[str, str] | None = None, lines: Mapping[str, Lines] | None = None
) -> str:
    """Returns the page. `docs` has a line about each rule by its id, `states` the state of objects by their id, and `lines` the input
    positions that each object's fields come from.

    The objects are data in the page. They are escaped, so that they cannot end their element, and displayed as text only; a
    Content-Security-Policy allows no scripts, styles or addresses except the page's own.
    """
    return page_of(page_data(picture, docs, states or {}, lines or {}))


def page_of(data: Mapping[str, Any], *, live: bool = False) -> str:
    """Returns the page for the result of `page_data`. A `live` page requests changes from its own server, and from no other."""
    style = page_file("page.css") + (page_file("timeline.css") if live else "")
    script = "".join(page_file(name) for name in (*SCRIPTS, *(LIVE if live else ())))
    policy = f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; base-uri 'none'; form-action 'none'"
    filled = {
        "title": html.escape(data["title"]),
        "policy": policy + ("; connect-src 'self'" if live else ""),
        "style": style,
        "script": script,
        "data": embedded(data),
    }
    return _SLOT.sub(lambda slot: filled[slot[1]], page_file("page.html"))


def embedded(value: Any) -> str:
    """Returns JSON for use in a `<script>` element: ASCII, without characters that have a meaning in HTML."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _title(picture: Picture) -> str:
    names = [vertex.name for vertex in picture.vertices if vertex.level == DECLARED]
    return ", ".join(names[:3]) + ("…" if len(names) > 3 else "") if names else "objects"


def page_data(picture: Picture, docs: Mapping[str, str], states: Mapping[str, str], lines: Mapping[str, Lines]) -> dict[str, Any]:
    """Returns the input of `graph.js`. Objects refer to each other by position; -1 stands for none."""
    position = {vertex.id: number for number, vertex in enumerate(picture.vertices)}
    rules = list(dict.fromkeys(vertex.rule for vertex in picture.vertices))
    rule_numbers = {rule: number for number, rule in enumerate(rules)}
    packer = Packer()
    texts = _texts(picture)
    nodes = [
        [
            vertex.kind,
            vertex.name,
            vertex.namespace,
            rule_numbers[vertex.rule],
            vertex.level,
            position.get(vertex.owner, -1),
            position.get(vertex.gang, -1),
            packer.pack(text) if text else -1,
        ]
        for vertex, text in zip(picture.vertices, texts, strict=True)
    ]
    return {
        "title": _title(picture),
        "rules": [[rule, docs.get(rule, "")] for rule in rules],
        "nodes": nodes,
        "edges": [[edge.type, _positions(edge.sources, position), _positions(edge.targets, position)] for edge in picture.edges],
        "domains": [
            [domain.type, domain.name, domain.required, domain.preferred, domain.scope, _positions(domain.members, position)]
            for domain in picture.domains
        ],
        "startup": [[_positions(edge.sources, position), _positions(edge.targets, position)] for edge in picture.startup],
        "gangs": _gangs(picture, position),
        "states": [[position[node_id], state] for node_id, state in states.items() if node_id in position],
        "lines": [
            [position[vertex.id], packer.pack(_margin(text, lines[vertex.id]))]
            for vertex, text in zip(picture.vertices, texts, strict=True)
            if text and vertex.id in lines
        ],
        "parts": packer.parts,
    }


def _margin(text: str, lines: Lines) -> str:
    """Returns a line for each line of an object's YAML: the input positions that the field on it comes from."""
    (document,), _ = read_yaml(text, "")
    margin = [""] * text.count("\n")
    for path, positions in lines.items():
        margin[document.place(path)[0] - 1] = positions
    return "".join(f"{positions}\n" for positions in margin)


def _gangs(picture: Picture, position: Mapping[str, int]) -> list[list[int]]:
    """Returns position, cliques, pods and GPUs of each gang, which its card displays while it is folded."""
    objects = [vertex.object for vertex in picture.vertices if vertex.object is not None]
    gangs = {(gang.namespace, gang.name): gang for gang in read_gangs(objects, read_cliques(objects))}
    rows = []
    for vertex in picture.vertices:
        gang = gangs.get((vertex.namespace, vertex.name)) if vertex.kind == GANG_KIND else None
        if gang is not None:
            pods, gpus = sum(clique.pods for clique in gang.cliques), sum(clique.pods * clique.gpus for clique in gang.cliques)
            rows.append([position[vertex.id], len(gang.cliques), pods, gpus])
    return rows


def _texts(picture: Picture) -> list[str]:
    """Returns the YAML of each vertex, as `grove compile` prints it; empty without an object."""
    written = iter_yaml([vertex.object for vertex in picture.vertices if vertex.object is not None])
    return [next(written).removeprefix("---\n") if vertex.object is not None else "" for vertex in picture.vertices]


def _positions(ids: list[str], position: Mapping[str, int]) -> list[int]:
    return [position[node_id] for node_id in ids if node_id in position]
