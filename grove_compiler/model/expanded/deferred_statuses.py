"""Finds the PodCliques whose status is not written yet: while their gates are removed, and until their pods are ready for the first time.

Otherwise a fifth of all writes during a start would be short-lived counts.
Server-side apply removes the fields that an apply no longer names: if only a condition of a status were written, its counts would be lost.
So a status is written as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.expanded.availability import CLIQUE_KIND
from grove_compiler.model.expanded.clique_state import lifts_gates
from grove_compiler.model.expanded.first_start import first_start_ends
from grove_compiler.model.expanded.structure import Clique, Replica


class StatusPart(Protocol):
    """A part of an object's status: some of its fields, or a condition."""

    @property
    def of(self) -> ObjectRef: ...


def deferred_statuses(parts: Iterable[StatusPart], replicas: Sequence[Replica], now: float) -> set[ObjectRef]:
    """Returns the PodCliques of these replicas that `parts` are about and whose status is not written at the time `now`."""
    refs = {part.of for part in parts if part.of.kind == CLIQUE_KIND}
    if not refs:
        return refs
    cliques = (clique for replica in replicas for clique in replica.all_cliques if clique.ref in refs)
    return {clique.ref for clique in cliques if _is_deferred(clique, now)}


def _is_deferred(clique: Clique, now: float) -> bool:
    ends = None if lifts_gates(clique) else first_start_ends(clique)
    return lifts_gates(clique) or (ends is not None and now < ends)
