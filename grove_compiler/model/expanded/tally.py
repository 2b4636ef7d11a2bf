"""What all replicas of a set add up to, kept up to date by what has changed: one pod of ten thousand costs one replica, here as well.

A tally is worked out from scratch where nobody can tell what has changed, and when anything else changes that it rests on: the declaration
of its set, with which it is remembered, and the hashes of its templates. So it always is what it would be from scratch.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable
from dataclasses import field
from typing import TypeVar

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import is_true
from grove_compiler.model.expanded.availability import CLIQUE_KIND, GROUP_KIND, ReplicaState, is_part_of, replica_state
from grove_compiler.model.expanded.recorded_templates import Hashes
from grove_compiler.model.expanded.reported_breach import ReportedBreach
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.inputs.snapshot import PART_OF, is_terminating
from grove_compiler.model.lazy import remembered
from grove_compiler.model.names import replica_of
from grove_compiler.model.spec.podcliqueset import API_VERSION
from grove_compiler.record import record

GROUP = "grove.io"
WAITS_FOR_TEMPLATES = "ResourceClaimTemplatesUnavailable"
T = TypeVar("T")


@record
class Tally:
    """How many replicas of a set can serve (`available`) and have the newest templates (`updated`), and how many parts of them have these.

    `behind` are the replicas in which an update has something left to do, `outdated` those that were up to date with what was declared
    before, `breached` those that report a breach, with it. `waiting` are the names of the PodCliques that say that their pods wait for
    claim templates.
    """

    states: list[ReplicaState] = field(default_factory=list, repr=False)
    available: int = 0
    updated: int = 0
    updated_cliques: int = 0
    updated_groups: int = 0
    behind: set[int] = field(default_factory=set)
    outdated: set[int] = field(default_factory=set)
    breached: dict[int, ReportedBreach] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)

    def add(self, state: ReplicaState) -> None:
        """Counts a replica: the next one, or one that is counted already, by what it is now."""
        if state.index < len(self.states):
            self._count(self.states[state.index], -1)
            self.states[state.index] = state
        else:
            self.states.append(state)
        self._count(state, 1)
        _sort(self.behind, state.index, not state.is_finished)
        _sort(self.outdated, state.index, state.is_outdated)
        self.breached.pop(state.index, None)
        if state.breach is not None:
            self.breached[state.index] = state.breach

    def note_waiting(self, name: str, clique: Manifest | None) -> None:
        """Takes down whether a PodClique of the set, if there is one of that name, says that its pods wait for claim templates."""
        waits = clique is not None and not is_terminating(clique) and is_true(clique, WAITS_FOR_TEMPLATES)
        _sort(self.waiting, name, waits)

    def _count(self, state: ReplicaState, by: int) -> None:
        self.available += by * state.is_available
        self.updated += by * state.is_updated
        self.updated_cliques += by * state.updated_cliques
        self.updated_groups += by * state.updated_groups


def _sort(group: builtins.set[T], one: T, belongs: bool) -> None:
    (group.add if belongs else group.discard)(one)


@record
class KeptTally:
    """The tally of a set as it was last asked for, with what it rests on beside the declaration. It only saves time.

    `marks` say up to where its objects were looked at, for whoever can tell what has changed since (`Objects.changes`).
    """

    hashes: Hashes | None = None
    marks: dict[str, object] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)

    def of(self, set: ExpandedSet) -> Tally:
        """Returns the tally of a set now."""
        place = PART_OF, set.name, set.namespace
        changes = {kind: set.snapshot.changes(GROUP, kind, *place, self.marks.get(kind)) for kind in (CLIQUE_KIND, GROUP_KIND)}
        names = [(kind, name) for kind, one in changes.items() if one is not None for name in one.names or ()]
        is_known = all(one is not None and one.names is not None for one in changes.values())
        if is_known and self.hashes == set.template_hashes:
            _bring_up_to_date(self.tally, set, names)
        else:
            self.tally = _from_scratch(set)
        self.hashes = set.template_hashes
        self.marks = {kind: one.mark for kind, one in changes.items() if one is not None}
        return self.tally


@remembered
def tally(set: ExpandedSet) -> Tally:
    """Returns what the replicas of a set add up to, by what their PodCliques and scaling groups report."""
    kept: KeptTally = set._kept_tally or KeptTally()
    return kept.of(set)


def keep_tally(set: ExpandedSet, kept: KeptTally) -> None:
    """Lets the tally of a set be what it was for an earlier set of the same declaration, but for what has changed."""
    # A function, since rules may call every public method of the model.
    set._kept_tally = kept


def _from_scratch(set: ExpandedSet) -> Tally:
    made = Tally()
    found = {(kind, one["metadata"]["name"]): one for kind in (CLIQUE_KIND, GROUP_KIND) for one in _labelled(set, kind)}
    for index in range(set.replica_count):
        made.add(replica_state(set, index, lambda kind, name: found.get((kind, name))))
    for (kind, name), manifest in found.items():
        if kind == CLIQUE_KIND:
            made.note_waiting(name, manifest)
    return made


def _labelled(set: ExpandedSet, kind: str) -> Iterable[Manifest]:
    return set.snapshot.labelled(GROUP, kind, PART_OF, set.name, set.namespace)


def _bring_up_to_date(tally: Tally, set: ExpandedSet, changed: Collection[tuple[str, str]]) -> None:
    """Counts the replicas anew of which something has changed. Where that raises, the marks stay, and the next step does it again."""

    def find(kind: str, name: str) -> Manifest | None:
        return set.snapshot.get(API_VERSION, kind, set.namespace, name)

    for index in {replica_of(name, set.name) for _, name in changed}:
        if index is not None and index < len(tally.states):
            tally.add(replica_state(set, index, find))
    for kind, name in changed:
        if kind == CLIQUE_KIND:
            found = find(kind, name)
            tally.note_waiting(name, found if found is not None and is_part_of(found, set.name) else None)
