"""Inputs to subjects: the sets and topologies that rules run for, structurally sound, defaulted and validated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program
from grove_compiler.engine.sources import Subject, Vocabulary
from grove_compiler.former import Former
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.intake import CLAIM_TEMPLATE_KIND, CONFIGURATION_KIND, SET_KIND, TOPOLOGY_KINDS, Admitted, Intake
from grove_compiler.known_topologies import known_topologies
from grove_compiler.model.expanded.derived import ExpandedSet
from grove_compiler.model.expanded.object_count import count_objects
from grove_compiler.model.inputs.configuration import Configuration, read_configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import Snapshot
from grove_compiler.model.inputs.topology import Topology
from grove_compiler.model.spec.declared import PodCliqueSet
from grove_compiler.model.vocabulary import FUNCTIONS, ROOTS, SUBJECTS
from grove_compiler.source.document import Document

VOCABULARY = Vocabulary(
    ROOTS,
    FUNCTIONS,
    subjects={kind: Subject(*names) for kind, names in SUBJECTS.items()},
    slices="set.replicas",
)
"""The names that rules may use; programs for `compile` are built with it."""


@dataclass(slots=True, eq=False)
class Inputs:
    """All that a compilation depends on.

    `documents` hold the sets and what they refer to. `snapshot` is what exists, with UIDs and status; without it nothing does.
    `old` holds the former state of what is updated. `config` is the OperatorConfiguration, unless it is among the documents.
    `is_whole` is false when more was given than could be read: that nothing is among the documents is no news then.
    """

    documents: list[Document]
    snapshot: list[Manifest] = field(default_factory=list)
    old: list[Document] = field(default_factory=list)
    config: Document | None = None
    settings: Settings = field(default_factory=Settings)
    is_whole: bool = True


@dataclass(slots=True, eq=False)
class Admission:
    """What rules run for: `kind` says whose rules, `scope` holds their roots.

    `entry` is where it comes from; none for the default topology, which comes from the configuration.
    """

    kind: str
    scope: dict[str, Any]
    entry: Admitted | None

    @property
    def set(self) -> ExpandedSet | None:
        """The set, if it is one."""
        return self.scope.get("set")


def admit(inputs: Inputs, program: Program) -> tuple[list[Admission], list[Diagnostic]]:
    """Topologies and sets, in the order in which their objects are made, with all that was found on the way."""
    scope: dict[str, Any] = {"settings": inputs.settings}
    intake = Intake(program, scope)
    intake.take([*inputs.documents, *([inputs.config] if inputs.config else [])])
    scope["config"] = config = _configuration(intake)
    references = [entry.manifest for entry in intake.of_kind(CLAIM_TEMPLATE_KIND)]
    snapshot = Snapshot([*inputs.snapshot, *references])
    former = Former(program, scope, inputs.old, snapshot)
    topologies = known_topologies(intake, config, snapshot)
    sets = _sets(intake, former, config, inputs.settings, snapshot, [one for one, _ in topologies if not one.is_replaced])
    users = [*(expanded for expanded, _ in sets), *(PodCliqueSet(manifest) for manifest in snapshot.of_kind(SET_KIND))]
    for topology, _ in topologies:
        topology.sets = users
    found = [
        *(Admission(CONFIGURATION_KIND, {"old": None}, entry) for entry in intake.of_kind(CONFIGURATION_KIND)[:1]),
        *(Admission(one.kind, {"topology": one, "old": former.topology(entry)}, entry) for one, entry in topologies),
        *(Admission(SET_KIND, {"set": expanded, "old": former.set(entry, inputs.settings.namespace)}, entry) for expanded, entry in sets),
    ]
    for admission in found:
        admission.scope |= scope
        intake.findings += _validate(admission, program, inputs.settings)
    if inputs.is_whole and not has_errors(intake.findings) and not _has_subject(intake, inputs):
        intake.findings.append(Diagnostic("input/no-set", "error", f"there is no {SET_KIND} in the input", hint="nothing to compile"))
    return found, intake.findings


def too_many(limit: int) -> Diagnostic:
    """The finding about a set that would become more objects than the limit."""
    message = f"would become more than {limit} objects"
    return Diagnostic("limit/objects", "error", message, "spec.replicas", hint="fewer replicas, or a higher limit", type="Invalid value")


def _configuration(intake: Intake) -> Configuration:
    found = intake.of_kind(CONFIGURATION_KIND)
    for entry in found[1:]:
        finding = Diagnostic("input/two-configurations", "error", f"a second {CONFIGURATION_KIND}; there can be one", "kind")
        finding.hint = "--config says which one counts instead of those in folders"
        intake.findings.append(entry.locate(finding))
    return read_configuration(found[0].manifest if found else None)


def _has_subject(intake: Intake, inputs: Inputs) -> bool:
    """Whether anything among the manifests is ours to compile or to check."""
    return any(entry.document is not inputs.config for entry in intake.of_kind(SET_KIND, *TOPOLOGY_KINDS, CONFIGURATION_KIND))


def _sets(
    intake: Intake, former: Former, config: Configuration, settings: Settings, snapshot: Snapshot, topologies: list[Topology]
) -> list[tuple[ExpandedSet, Admitted]]:
    sets = []
    for entry in intake.of_kind(SET_KIND):
        running = former.running_set(entry, settings.namespace)
        expanded = ExpandedSet(entry.manifest, settings.namespace, config, settings, snapshot, topologies, running)
        sets.append((expanded, entry))
    return sets


def _validate(admission: Admission, program: Program, settings: Settings) -> list[Diagnostic]:
    entry, expanded = admission.entry, admission.set
    if entry is None:
        return []
    try:
        found = program.validate(admission.scope, "create" if admission.scope["old"] is None else "update", admission.kind)
    except RuleFailure as failure:
        return [] if entry.faults else [failure.diagnostic]
    findings = [finding for finding in map(entry.restore, found) if not entry.is_clouded(finding)]
    if expanded and not entry.faults and not has_errors(findings) and count_objects(expanded, settings.max_objects) > settings.max_objects:
        findings.append(entry.locate(too_many(settings.max_objects)))
    return findings
