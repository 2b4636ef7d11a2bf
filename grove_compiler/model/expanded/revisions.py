"""Revisions that a set should have: that of what is declared, those that still run, and some more to go back to."""

from __future__ import annotations

import builtins

from grove_compiler.graph.node import Manifest
from grove_compiler.model.expanded.recorded_templates import POD_HASH_LABEL, Revision
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.inputs.snapshot import PART_OF
from grove_compiler.model.lazy import remembered
from grove_compiler.model.names import part_of
from grove_compiler.record import record

SPARE_REVISIONS = 2
"""How many revisions that nothing runs are kept, so that an edit that is taken back finds the hashes that its pods had."""


@record
class WantedRevision:
    """A ControllerRevision that should exist. `data` is what was recorded when there is one: it may never be changed."""

    name: str
    number: int
    data: Manifest


@remembered
def wanted_revisions(set: ExpandedSet) -> list[WantedRevision]:
    """Returns the revisions of a set that exists, the oldest first; none offline.

    That of what is declared has the highest number: when an edit is taken back, an old one becomes the newest.
    """
    if not set.ref.uid or not set.settings.pods or not set.snapshot.live(set.ref):
        return []
    current = next((one for one in set.revisions if one.generation_hash == set.generation_hash), None)
    others = [one for one in set.revisions if one is not current]
    newest = max((one.number for one in others), default=0)
    kept = [WantedRevision(one.name, one.number, one.data) for one in _kept(set, others)]
    if current is None:
        return [*kept, WantedRevision(part_of(set.name, set.generation_hash), newest + 1, _data(set))]
    return [*kept, WantedRevision(current.name, max(current.number, newest + 1), current.data)]


def _kept(set: ExpandedSet, others: list[Revision]) -> list[Revision]:
    """Those that something runs, and the newest of the rest. Nobody is asked what runs while there are few: there may be many pods."""
    if len(others) <= SPARE_REVISIONS:
        return others
    # A template that never changed stands in every revision. The newest that has it is enough to make its pods from.
    unrecorded = _running_hashes(set) - {*set.template_hashes[0]}
    used = []
    for one in reversed(others):
        if unrecorded & {*one.hashes.values()}:
            used.append(one)
            unrecorded -= {*one.hashes.values()}
    spare = [one for one in others if one not in used][-SPARE_REVISIONS:]
    return [one for one in others if one in used or one in spare]


def _running_hashes(set: ExpandedSet) -> builtins.set[str]:
    kinds = ("grove.io", "PodClique"), ("", "Pod")
    live = (one for group, kind in kinds for one in set.snapshot.labelled(group, kind, PART_OF, set.name, set.namespace))
    return {(one["metadata"].get("labels") or {}).get(POD_HASH_LABEL) or "" for one in live}


def _data(set: ExpandedSet) -> Manifest:
    return {
        "generationHash": set.generation_hash,
        "priorityClassName": set.priority_class,
        "cliques": [
            {"name": clique.name, "hash": hash, "template": clique.pod_parts}
            for clique, hash in zip(set.cliques, set.template_hashes[0], strict=True)
        ],
    }
