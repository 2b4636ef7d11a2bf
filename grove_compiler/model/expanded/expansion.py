"""Takes an expanded set apart once nobody needs it, so that it is freed at once and piece by piece.

The parts of a set refer to each other in both directions: a clique to its replica, and a replica to its cliques. Only Python's cyclic
garbage collector would free them, which stops all threads: a quarter of a second for what the review of a large set leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from grove_compiler.model.expanded.structure import ExpandedSet, Replica, ScalingGroup, ScalingGroupReplica
from grove_compiler.model.expanded.topology import ExpandedTopology
from grove_compiler.model.lazy import LazySequence
from grove_compiler.model.spec.podcliqueset import PodCliqueSet


class Expansion:
    """Owns sets, topologies, and the templates of the sets in `declared`: when it is itself freed, it takes them apart.

    Whoever keeps a part for longer has to keep the owner. A set whose templates are `declared` elsewhere only shares them.
    """

    __slots__ = ("_declared", "_expanded")

    def __init__(self, *expanded: ExpandedSet | ExpandedTopology, declared: Iterable[PodCliqueSet | None] = ()) -> None:
        self._expanded, self._declared = expanded, [one for one in declared if one is not None]

    def __del__(self) -> None:
        for declared in self._declared:
            _take_apart_templates(declared)
        for expanded in self._expanded:
            _take_apart(expanded)


def _take_apart(expanded: ExpandedSet | ExpandedTopology) -> None:
    for part in _parts(expanded) if isinstance(expanded, ExpandedSet) else ():
        vars(part).clear()
    vars(expanded).clear()


def _take_apart_templates(pcs: PodCliqueSet) -> None:
    templates = vars(pcs).get("_templates")
    for part in (*templates.cliques, *templates.groups) if templates is not None else ():
        vars(part).clear()


def _parts(pcs: ExpandedSet) -> Iterator[Any]:
    """Yields those parts that were created, each after its own: nothing is read of it any more."""
    replicas = vars(pcs).get("replicas")
    for replica in replicas.created() if isinstance(replicas, LazySequence) else ():
        yield from _of_replica(replica)


def _of_replica(replica: Replica) -> Iterator[Any]:
    yield from vars(replica).get("cliques", ())
    groups: list[ScalingGroup] = vars(replica).get("scaling_groups", [])
    for group in groups:
        members: list[ScalingGroupReplica] = vars(group).get("_all_members", [])
        for member in members:
            yield from vars(member).get("cliques", ())
            yield member
        yield group
    yield replica
