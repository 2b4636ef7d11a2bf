"""Tallies the replicas of a set incrementally, so that a change of one pod costs one replica.

A tally is recomputed when it is unknown what has changed, and when its other inputs change: the set's spec, with which it is cached, and
the hashes of its templates. So it always equals a recomputed one.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable
from dataclasses import field
from typing import TypeVar

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import is_true
from grove_compiler.labels import PART_OF
from grove_compiler.model.expanded.availability import CLIQUE_KIND, GROUP_KIND, ReplicaState, is_part_of, replica_state
from grove_compiler.model.expanded.recorded_templates import Hashes
from grove_compiler.model.expanded.reported_breach import ReportedBreach
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.lazy import memoized
from grove_compiler.model.names import replica_of
from grove_compiler.model.spec.podcliqueset import API_VERSION
from grove_compiler.record import record
from kube_objects.manifest import is_terminating

GROUP = "grove.io"
WAITS_FOR_TEMPLATES = "ResourceClaimTemplatesUnavailable"
T = TypeVar("T")


@record
class Tally:
    """The number of a set's replicas that are `available` and `updated`, and of their PodCliques and scaling groups that are updated.

    `unfinished` are the indices of the replicas that an update has not finished, `outdated` of those with templates of an earlier
    generation, `breached` of those with a reported breach. `waiting` are the names of the PodCliques whose pods wait for claim templates,
    by their conditions.
    """

    states: list[ReplicaState] = field(default_factory=list, repr=False)
    available: int = 0
    updated: int = 0
    updated_cliques: int = 0
    updated_groups: int = 0
    unfinished: set[int] = field(default_factory=set)
    outdated: set[int] = field(default_factory=set)
    breached: dict[int, ReportedBreach] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)

    def add(self, state: ReplicaState) -> None:
        """Adds the state of the next replica, or replaces that of an earlier one."""
        if state.index < len(self.states):
            self._count(self.states[state.index], -1)
            self.states[state.index] = state
        else:
            self.states.append(state)
        self._count(state, 1)
        _set_membership(self.unfinished, state.index, not state.is_finished)
        _set_membership(self.outdated, state.index, state.is_outdated)
        self.breached.pop(state.index, None)
        if state.breach is not None:
            self.breached[state.index] = state.breach

    def set_waiting(self, name: str, clique: Manifest | None) -> None:
        """Records whether pods of the PodClique of that name wait for claim templates, by its condition; None if it does not exist."""
        waits = clique is not None and not is_terminating(clique) and is_true(clique, WAITS_FOR_TEMPLATES)
        _set_membership(self.waiting, name, waits)

    def _count(self, state: ReplicaState, by: int) -> None:
        self.available += by * state.is_available
        self.updated += by * state.is_updated
        self.updated_cliques += by * state.updated_cliques
        self.updated_groups += by * state.updated_groups


def _set_membership(group: builtins.set[T], member: T, belongs: bool) -> None:
    (group.add if belongs else group.discard)(member)


@record
class CachedTally:
    """Caches the tally of a set between steps, with what it depends on besides the spec. It only saves time.

    `marks` tell up to which change of each kind the objects were read (`ObjectReader.changes`).
    """

    hashes: Hashes | None = None
    marks: dict[str, object] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)

    def of(self, pcs: ExpandedSet) -> Tally:
        """Returns the current tally of a set, updated by the changes since the last call where they are known."""
        place = PART_OF, pcs.name, pcs.namespace
        changes = {kind: pcs.snapshot.changes(GROUP, kind, *place, self.marks.get(kind)) for kind in (CLIQUE_KIND, GROUP_KIND)}
        names = [(kind, name) for kind, changed in changes.items() if changed is not None for name in changed.names or ()]
        is_known = all(changed is not None and changed.names is not None for changed in changes.values())
        if is_known and self.hashes == pcs.template_hashes:
            _update(self.tally, pcs, names)
        else:
            self.tally = _computed(pcs)
        self.hashes = pcs.template_hashes
        self.marks = {kind: changed.mark for kind, changed in changes.items() if changed is not None}
        return self.tally


@memoized
def tally(pcs: ExpandedSet) -> Tally:
    """Returns the tally of a set's replicas, from the statuses of their PodCliques and scaling groups."""
    cached: CachedTally = pcs._cached_tally or CachedTally()
    return cached.of(pcs)


def use_cached_tally(pcs: ExpandedSet, cached: CachedTally) -> None:
    """Makes `tally` start from the cached tally of an earlier step of the same spec."""
    # A function, since rules may call every public method of the model.
    pcs._cached_tally = cached


def _computed(pcs: ExpandedSet) -> Tally:
    tally = Tally()
    parts = {(kind, part["metadata"]["name"]): part for kind in (CLIQUE_KIND, GROUP_KIND) for part in _labelled(pcs, kind)}
    for index in range(pcs.replica_count):
        tally.add(replica_state(pcs, index, lambda kind, name: parts.get((kind, name))))
    for (kind, name), manifest in parts.items():
        if kind == CLIQUE_KIND:
            tally.set_waiting(name, manifest)
    return tally


def _labelled(pcs: ExpandedSet, kind: str) -> Iterable[Manifest]:
    return pcs.snapshot.labelled(GROUP, kind, PART_OF, pcs.name, pcs.namespace)


def _update(tally: Tally, pcs: ExpandedSet, changed: Collection[tuple[str, str]]) -> None:
    """Updates the replicas with a changed part. If that raises, the marks stay, so that the next step repeats it."""

    def find(kind: str, name: str) -> Manifest | None:
        return pcs.snapshot.get(API_VERSION, kind, pcs.namespace, name)

    for index in {replica_of(name, pcs.name) for _, name in changed}:
        if index is not None and index < len(tally.states):
            tally.add(replica_state(pcs, index, find))
    for kind, name in changed:
        if kind == CLIQUE_KIND:
            manifest = find(kind, name)
            tally.set_waiting(name, manifest if manifest is not None and is_part_of(manifest, pcs.name) else None)
