"""When two objects are repetitions of one another."""

from __future__ import annotations

import re
from collections.abc import Hashable

from grove_operator.render.picture import Vertex

MOST_ALIKE = 2
"""So many that are alike, and one more, are drawn; of more, the first is drawn and a line counts the rest."""

_INDEX = re.compile(r"(?<![^-.])[0-9]+(?![^-.])")
_OF_A_CLIQUE = ("roleName", "replicas", "minAvailable")


def likeness(vertex: Vertex) -> Hashable:
    """Returns a key, equal for objects of one rule that differ only in the indices in their names. Pods' end in a hash and do not count."""
    name = "" if vertex.kind == "Pod" else _INDEX.sub("#", vertex.name)
    return vertex.kind, vertex.rule, vertex.namespace, name, *_shape(vertex)


def _shape(vertex: Vertex) -> tuple[Hashable, ...]:
    if vertex.kind != "PodClique" or vertex.object is None:
        return ()
    spec = vertex.object.get("spec") or {}
    return tuple(str(spec.get(key)) for key in _OF_A_CLIQUE)


def first_to_last(names: list[str]) -> str:
    """Returns `a`, or `a to b`."""
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
