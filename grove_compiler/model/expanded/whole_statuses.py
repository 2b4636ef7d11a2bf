"""Keeps the status of a PodClique whole: of one that waits, by the rule `status_waits`, nothing is said at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.expanded.availability import CLIQUE_KIND
from grove_compiler.model.expanded.clique_state import status_waits
from grove_compiler.model.expanded.structure import Replica


class Told(Protocol):
    """Something that is said of an object: fields of its status, or a condition."""

    @property
    def of(self) -> ObjectRef: ...


T = TypeVar("T", bound=Told)


def without_waiting(told: list[T], replicas: Sequence[Replica], now: float) -> list[T]:
    """Returns what is said, without what is about cliques of these replicas whose status waits now.

    A server takes away what an apply no longer names: of a status of which only a condition is written, the counts would be gone.
    """
    about = {one.of for one in told if one.of.kind == CLIQUE_KIND}
    if not about:
        return told
    cliques = (clique for replica in replicas for clique in replica.all_cliques if clique.ref in about)
    waiting = {clique.ref for clique in cliques if clique.set.decisions.of(status_waits)(clique, now)}
    return [one for one in told if one.of not in waiting]
