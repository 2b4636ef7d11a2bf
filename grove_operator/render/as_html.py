"""`-o html`: one page that needs nothing else: no network, no server. Its sources stand in `page/` and are put together here."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Mapping
from typing import Any

from grove_compiler.gangs.clique import read_cliques
from grove_compiler.gangs.gang import GANG_KIND, read_gangs
from grove_compiler.source.yaml_reader import read_yaml
from grove_compiler.source.yaml_writer import iter_yaml
from grove_operator.render.input_lines import Lines
from grove_operator.render.packer import Packer
from grove_operator.render.picture import DECLARED, Picture

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
"""In this order they make one script; each may use what those before it define."""
LIVE = ("live.js",)
"""What comes behind them in a page that is served."""

_FOLDER = os.path.join(os.path.dirname(__file__), "page")
_SLOT = re.compile(r"\{\{ (\w+) \}\}")


def as_html(
    picture: Picture, docs: Mapping[str, str], states: Mapping[str, str] | None = None, lines: Mapping[str, Lines] | None = None
) -> str:
    """Returns the page. `docs` holds a line about each rule, by the rule's id; `states` a few words about objects, by their id; `lines`
    the places in the input behind each object's fields.

    Whatever the objects hold stands in the page as data: it is escaped so that it cannot end its element, the page writes it as text
    only, and a Content-Security-Policy lets no script, style or address but the page's own be used.
    """
    return page_of(page_data(picture, docs, states or {}, lines or {}))


def page_of(data: Mapping[str, Any], *, live: bool = False) -> str:
    """Returns the page of what `page_data` gave. One that is `live` asks its own server, and nobody else, for what has changed."""
    style = _read("page.css")
    script = "".join(_read(name) for name in (*SCRIPTS, *(LIVE if live else ())))
    policy = f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; base-uri 'none'; form-action 'none'"
    filled = {
        "title": html.escape(data["title"]),
        "policy": policy + ("; connect-src 'self'" if live else ""),
        "style": style,
        "script": script,
        "data": embedded(data),
    }
    return _SLOT.sub(lambda slot: filled[slot[1]], _read("page.html"))


def embedded(value: Any) -> str:
    """Returns JSON for between `<script>` tags: plain ASCII, without the characters that HTML gives a meaning to."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _read(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as stream:
        return stream.read()


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _title(picture: Picture) -> str:
    names = [vertex.name for vertex in picture.vertices if vertex.level == DECLARED]
    return ", ".join(names[:3]) + ("…" if len(names) > 3 else "") if names else "objects"


def page_data(picture: Picture, docs: Mapping[str, str], states: Mapping[str, str], lines: Mapping[str, Lines]) -> dict[str, Any]:
    """Returns what `graph.js` reads. Objects refer to each other by position; -1 is none."""
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
        "states": [[position[id], state] for id, state in states.items() if id in position],
        "lines": [
            [position[vertex.id], packer.pack(_beside(text, lines[vertex.id]))]
            for vertex, text in zip(picture.vertices, texts, strict=True)
            if text and vertex.id in lines
        ],
        "parts": packer.parts,
    }


def _beside(text: str, lines: Lines) -> str:
    """Returns, for each line of an object's YAML, a line with the places of the field that stands there."""
    (document,), _ = read_yaml(text, "")
    beside = [""] * text.count("\n")
    for path, places in lines.items():
        beside[document.place(path)[0] - 1] = places
    return "".join(f"{places}\n" for places in beside)


def _gangs(picture: Picture, position: Mapping[str, int]) -> list[list[int]]:
    """Returns position, cliques, pods and GPUs of each gang: what its card says while it is folded."""
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
    """Returns the YAML of each object, as `grove compile` prints it; empty where there is none."""
    written = iter_yaml([vertex.object for vertex in picture.vertices if vertex.object is not None])
    return [next(written).removeprefix("---\n") if vertex.object is not None else "" for vertex in picture.vertices]


def _positions(ids: list[str], position: Mapping[str, int]) -> list[int]:
    return [position[id] for id in ids if id in position]
