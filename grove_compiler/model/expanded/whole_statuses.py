"""Keeps the status of a PodClique whole: while it waits, by the rule `status_waits`, none of its parts is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.expanded.availability import CLIQUE_KIND
from grove_compiler.model.expanded.clique_state import status_waits
from grove_compiler.model.expanded.structure import Replica


class StatusPart(Protocol):
    """A part of an object's status: some of its fields, or a condition."""

    @property
    def of(self) -> ObjectRef: ...


T = TypeVar("T", bound=StatusPart)


def without_waiting(parts: list[T], replicas: Sequence[Replica], now: float) -> list[T]:
    """Returns the parts of statuses, without those of cliques of these replicas whose status waits now.

    Server-side apply removes fields that an apply no longer names: if only a condition of a status were written, its counts would be lost.
    """
    refs = {part.of for part in parts if part.of.kind == CLIQUE_KIND}
    if not refs:
        return parts
    cliques = (clique for replica in replicas for clique in replica.all_cliques if clique.ref in refs)
    waiting = {clique.ref for clique in cliques if clique.set.decisions.of(status_waits)(clique, now)}
    return [part for part in parts if part.of not in waiting]
