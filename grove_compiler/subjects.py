"""Defines what rules run for, the sets, topologies and the configuration of an input, and the words that they may use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from grove_compiler.decoder import (
    SET_KIND,
    Decoded,
)
from grove_compiler.engine.sources import SubjectNames, Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic, errors_of, has_errors
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.model.expanded.expansion import Expansion
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.expanded.topology import ExpandedTopology
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectReader, Snapshot
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.vocabulary import DECISIONS, FORMER_DECISIONS, FUNCTIONS, PARAMETER_WORDS, ROOTS, SUBJECTS
from grove_compiler.record import record
from grove_compiler.source.document import Document

VOCABULARY = Vocabulary(
    ROOTS,
    FUNCTIONS,
    subjects={kind: SubjectNames(*names) for kind, names in SUBJECTS.items()},
    slices="set.replicas",
    decisions=DECISIONS,
    former_decisions=FORMER_DECISIONS,
    words=PARAMETER_WORDS,
)
"""The names that rules may use; programs for `compile` and `step` are built with it."""


@record
class Inputs:
    """Holds everything that a compilation depends on.

    `documents` hold the sets and what they refer to. `snapshot` is what exists, with UIDs and status; nothing does by default. `view`
    replaces `snapshot` by something that answers the same questions. `old` holds the state before an update. `config` is the
    OperatorConfiguration, unless it is among the documents. `is_complete` is false when some input could not be read, so that missing
    documents are not reported again.
    """

    documents: list[Document]
    snapshot: Sequence[Manifest] = ()
    old: list[Document] = field(default_factory=list)
    config: Document | None = None
    settings: Settings = field(default_factory=Settings)
    is_complete: bool = True
    view: ObjectReader | None = None


@record
class Subject:
    """Holds what rules run for: `kind` selects the rules, `scope` has their roots, `findings` are the diagnostics about it.

    `entry` is the decoded input; None for a subject from the snapshot or the configuration, which the user cannot fix in the input.
    `is_update` tells whether its old state is known, so that the rules on `update` apply instead of those on `create`. `needs` are inputs
    that its objects depend on: an error in one of them holds the subject as well. `owners` own what is in the scope, which is of use as
    long as the subject is kept.
    """

    kind: str
    scope: dict[str, Any]
    entry: Decoded | None
    findings: list[Diagnostic] = field(default_factory=list)
    needs: list[Decoded] = field(default_factory=list)
    is_update: bool = False
    owners: Sequence[Expansion] = ()

    @property
    def set(self) -> ExpandedSet | None:
        """The set; None for other subjects."""
        return self.scope.get("set")

    @property
    def ref(self) -> ObjectRef:
        """The reference to its object. A configuration is a file, and has no name."""
        expanded: ExpandedSet | ExpandedTopology | None = self.scope.get("set") or self.scope.get("topology")
        return expanded.ref if expanded is not None else ObjectRef("", self.kind, "", "")

    @property
    def hold(self) -> str:
        """Why no objects may be made for it, in one sentence; empty when it is valid."""
        errors = errors_of(self.findings)
        if errors:
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            place = " ".join(part for part in (errors[0].place, errors[0].path) if part)
            return f"{place}: {errors[0].message}{more}" if place else errors[0].message + more
        invalid = next((entry for entry in self.needs if has_errors(entry.findings)), None)
        return f"it needs the {invalid.kind} {invalid.key[2]!r}, which has errors" if invalid is not None else ""


@record
class Reading:
    """Holds the subjects, in the order in which their objects are made, and all findings, in the order of the documents.

    `is_complete` is false when a part of the input could not be assigned to a subject: a missing subject may only be unreadable.
    """

    subjects: list[Subject]
    findings: list[Diagnostic]
    is_complete: bool


def live_sets(snapshot: Snapshot) -> list[PodCliqueSet]:
    """Returns all sets of the cluster. There may be thousands, so only the question which sets use a topology needs them."""
    return [PodCliqueSet(manifest) for manifest in snapshot.of_kind("grove.io/v1alpha1", SET_KIND)]
