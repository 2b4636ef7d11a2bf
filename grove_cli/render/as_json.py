"""Renders a graph as JSON (`-o json`). `docs/graph.md` describes every field."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from grove_cli.render.domains import Domain
from grove_cli.render.picture import Picture, Vertex

FORMAT = 1
"""The version of the format. It increases when a field is removed or changes its meaning, but not for new fields."""


def as_json(picture: Picture) -> str:
    """Returns the graph as JSON text; empty fields are omitted."""
    domains: dict[str, list[str]] = defaultdict(list)
    for domain in picture.domains:
        for member in domain.members:
            domains[member].append(domain.id)
    graph = {
        "format": FORMAT,
        "levels": picture.levels,
        "nodes": [_node(vertex, domains.get(vertex.id, [])) for vertex in picture.vertices],
        "edges": [{"type": edge.type, "from": edge.sources, "to": edge.targets} for edge in picture.edges],
        "domains": [_domain(domain) for domain in picture.domains],
        "startup": [{"from": edge.sources, "to": edge.targets} for edge in picture.startup],
    }
    return json.dumps(graph, indent=2, ensure_ascii=False) + "\n"


def _node(vertex: Vertex, domains: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": vertex.id, "kind": vertex.kind, "name": vertex.name}
    if vertex.level >= 0:
        fields["level"] = vertex.level
    optional = {"namespace": vertex.namespace, "rule": vertex.rule, "owner": vertex.owner, "gang": vertex.gang, "domains": domains}
    return fields | {name: value for name, value in optional.items() if value}


def _domain(domain: Domain) -> dict[str, Any]:
    fields = ("id", "type", "name", "required", "preferred", "scope", "gang")
    return {name: value for name in fields if (value := getattr(domain, name))} | {"members": domain.members}
