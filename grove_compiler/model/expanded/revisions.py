"""Computes the desired ControllerRevisions of a set: the current one, those still in use, and a few spare ones."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from dataclasses import field

from grove_compiler.graph.node import Manifest
from grove_compiler.labels import PART_OF, POD_HASH_LABEL
from grove_compiler.model.expanded.immutable_fields import KEY, immutable_fields
from grove_compiler.model.expanded.last_valid_spec import last_valid_spec
from grove_compiler.model.expanded.recorded_templates import ACCEPTED_FINDINGS, DEFAULT_SCHEDULER, LAST_VALID_SPEC, Revision
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.lazy import memoized
from grove_compiler.model.names import part_of
from grove_compiler.record import record

SPARE_REVISIONS = 2
"""How many unused revisions are retained, so that reverting an edit finds the hashes that its pods had."""


@record
class DesiredRevision:
    """A ControllerRevision that should exist. `data` is immutable, so an existing one keeps its own."""

    name: str
    number: int
    data: Manifest
    annotations: Manifest = field(default_factory=dict)


@memoized
def desired_revisions(pcs: ExpandedSet) -> list[DesiredRevision]:
    """Returns the desired revisions of a live set, the oldest first; empty offline.

    The current one has the highest number: when an edit is reverted, an old revision becomes the newest.
    """
    if not pcs.ref.uid or not pcs.settings.pods or not pcs.snapshot.live(pcs.ref):
        return []
    # The newest of several: were it another one, each step would number it as the newest.
    current = next((revision for revision in reversed(pcs.revisions) if revision.generation_hash == pcs.generation_hash), None)
    others = [revision for revision in pcs.revisions if revision is not current]
    newest = max((revision.number for revision in others), default=0)
    name = part_of(pcs.name, pcs.generation_hash)
    kept = [one for one in _retained(pcs, others) if current is not None or one.name != name]  # of that name, it records something else
    retained = [DesiredRevision(revision.name, revision.number, revision.data, _kept_annotations(revision)) for revision in kept]
    if current is None:
        return [*retained, DesiredRevision(name, newest + 1, _data(pcs), _annotations(pcs))]
    return [*retained, DesiredRevision(current.name, max(current.number, newest + 1), current.data, _annotations(pcs))]


def _annotations(pcs: ExpandedSet) -> Manifest:
    """Returns the annotations of the current revision: default scheduler, valid spec, and the findings that the set was accepted with.

    A set that is followed as it was last valid keeps that record as it is: a later release may have written fields that this one ignores.
    """
    lines = [f"{finding.code} {finding.path}" for finding in pcs.accepted_findings]
    valid_spec = pcs.revisions[-1].last_valid_spec if pcs.is_last_valid else last_valid_spec(pcs.manifest) if pcs.is_valid else ""
    texts = {LAST_VALID_SPEC: valid_spec, ACCEPTED_FINDINGS: "\n".join(lines)}
    return {DEFAULT_SCHEDULER: _default_scheduler(pcs)} | {key: text for key, text in texts.items() if text}


def _default_scheduler(pcs: ExpandedSet) -> str:
    """Returns the default scheduler that is recorded: one that is not configured now, perhaps for a moment, as long as a pod has it."""
    recorded, present = pcs.revisions[-1].default_scheduler if pcs.revisions else "", pcs.config.default_scheduler
    if recorded in ("", present):
        return present
    return recorded if any(pod["spec"].get("schedulerName") == recorded for pod in _pods(pcs)) else present


def _kept_annotations(revision: Revision) -> Manifest:
    """Returns those of an earlier revision, which is the newest again where somebody deletes a later one, or the server rejects it."""
    return {DEFAULT_SCHEDULER: revision.default_scheduler} if revision.default_scheduler else {}


def _retained(pcs: ExpandedSet, others: list[Revision]) -> list[Revision]:
    """Returns the revisions in use, and the newest of the others. All of a few are retained, which saves reading all pods."""
    if len(others) <= SPARE_REVISIONS:
        return others
    # An unchanged template is in every revision; the newest one that has it is enough to recreate its pods.
    unrecorded = _running_hashes(pcs) - {*pcs.template_hashes[0]}
    used = []
    for revision in reversed(others):
        if unrecorded & {*revision.hashes.values()}:
            used.append(revision)
            unrecorded -= {*revision.hashes.values()}
    spare = [revision for revision in others if revision not in used][-SPARE_REVISIONS:]
    return [revision for revision in others if revision in used or revision in spare]


def runs_unrecorded(pcs: ExpandedSet) -> bool:
    """Reports whether a pod of a set has a template that no revision records. A PodClique without pods may be made before the record."""
    recorded = {template_hash for revision in pcs.revisions for template_hash in revision.hashes.values()}
    return not _hashes_of(_pods(pcs)) <= {"", *recorded}


def _running_hashes(pcs: ExpandedSet) -> builtins.set[str]:
    return _hashes_of([*pcs.snapshot.labelled("grove.io", "PodClique", PART_OF, pcs.name, pcs.namespace), *_pods(pcs)])


def _hashes_of(live: Iterable[Manifest]) -> builtins.set[str]:
    return {(manifest["metadata"].get("labels") or {}).get(POD_HASH_LABEL) or "" for manifest in live}


def _pods(pcs: ExpandedSet) -> list[Manifest]:
    return pcs.snapshot.labelled("", "Pod", PART_OF, pcs.name, pcs.namespace)


def _data(pcs: ExpandedSet) -> Manifest:
    live = pcs.snapshot.live(pcs.ref) or {}
    return {
        **({KEY: immutable_fields(live)} if (live.get("spec") or {}).get("template") else {}),
        "generationHash": pcs.generation_hash,
        "priorityClassName": pcs.priority_class,
        "cliques": [
            {"name": clique.name, "hash": template_hash, "replicas": clique.replicas, "template": clique.pod_parts}
            for clique, template_hash in zip(pcs.cliques, pcs.template_hashes[0], strict=True)
        ],
    }
