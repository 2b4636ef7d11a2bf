"""Decides whether two objects of a picture are similar, so that one may stand for both."""

from __future__ import annotations

import re
from collections.abc import Hashable

from grove_cli.render.picture import Vertex

MAX_SIMILAR = 2
"""Up to one more than this, similar objects are all drawn; otherwise the first one is, and a line counts the others."""

_INDEX = re.compile(r"(?<![^-.])[0-9]+(?![^-.])")
_CLIQUE_FIELDS = ("roleName", "replicas", "minAvailable")


def similarity_key(vertex: Vertex) -> Hashable:
    """Returns a key that is equal for objects of one rule whose names differ only in indices. Pods' names end in a hash and are ignored."""
    name = "" if vertex.kind == "Pod" else _INDEX.sub("#", vertex.name)
    return vertex.kind, vertex.rule, vertex.namespace, name, *_shape(vertex)


def _shape(vertex: Vertex) -> tuple[Hashable, ...]:
    if vertex.kind != "PodClique" or vertex.object is None:
        return ()
    spec = vertex.object.get("spec") or {}
    return tuple(str(spec.get(key)) for key in _CLIQUE_FIELDS)


def first_to_last(names: list[str]) -> str:
    """Returns `a`, or `a to b`."""
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
