"""Models what a set mentions by name: topologies and their domains, cliques, claims, variables."""

from __future__ import annotations

from grove_compiler.record import record


@record
class Mention:
    """A name in a manifest, of what may not exist; `path` is the field that has it."""

    name: str
    path: str
