"""Inputs to subjects: the sets and topologies that rules run for, structurally sound, defaulted and validated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grove_compiler.engine.program import Program, RuleFailure
from grove_compiler.engine.sources import Subject, Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.intake import CLAIM_TEMPLATE_KIND, CONFIGURATION_KIND, SET_KIND, TOPOLOGY_KINDS, Admitted, Intake
from grove_compiler.model.configuration import Configuration, read_configuration
from grove_compiler.model.declared import PodCliqueSet
from grove_compiler.model.derived import ExpandedSet
from grove_compiler.model.object_count import count_objects
from grove_compiler.model.settings import Settings
from grove_compiler.model.snapshot import Snapshot
from grove_compiler.model.topology import CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY, Topology, default_topology
from grove_compiler.model.vocabulary import FUNCTIONS, ROOTS, SUBJECTS
from grove_compiler.source.document import Document

VOCABULARY = Vocabulary(ROOTS, FUNCTIONS, subjects={kind: Subject(*names) for kind, names in SUBJECTS.items()})
"""The names that rules may use; programs for `compile` are built with it."""


@dataclass(slots=True, eq=False)
class Inputs:
    """All that a compilation depends on.

    `documents` hold the sets and what they refer to. `snapshot` is what exists, with UIDs and status; without it nothing does.
    `old` holds the former state of what is updated. `config` is the OperatorConfiguration, unless it is among the documents.
    """

    documents: list[Document]
    snapshot: list[Manifest] = field(default_factory=list)
    old: list[Document] = field(default_factory=list)
    config: Document | None = None
    settings: Settings = field(default_factory=Settings)


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
    former = Intake(program, scope)
    former.take(inputs.old)
    references = [entry.manifest for entry in intake.of_kind(CLAIM_TEMPLATE_KIND)]
    snapshot = Snapshot([*inputs.snapshot, *references])
    topologies = _topologies(intake, config, snapshot)
    configuration = [Admission(CONFIGURATION_KIND, {}, entry) for entry in intake.of_kind(CONFIGURATION_KIND)[:1]]
    found = [
        *configuration,
        *topologies,
        *_sets(intake, config, inputs.settings, snapshot, [admission.scope["topology"] for admission in topologies]),
    ]
    for admission in found:
        admission.scope |= {**scope, "old": _former(admission, former, inputs.settings)}
        intake.findings += _validate(admission, program, inputs.settings)
    if len(found) == len(configuration) and not has_errors(intake.findings):
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
        intake.findings.append(entry.locate(finding))
    return read_configuration(found[0].manifest if found else None)


def _topologies(intake: Intake, config: Configuration, snapshot: Snapshot) -> list[Admission]:
    """Those of the input, those that only the snapshot knows, and the default one that the configuration describes."""
    entries = intake.of_kind(*TOPOLOGY_KINDS)
    found: list[tuple[Admitted | None, Topology]] = [(entry, Topology(entry.manifest, snapshot)) for entry in entries]
    known = {(topology.kind, topology.name) for _, topology in found}
    for kind in TOPOLOGY_KINDS:
        live = [Topology(manifest, snapshot) for manifest in snapshot.of_kind(kind)]
        found += [(None, topology) for topology in live if (kind, topology.name) not in known]
    if config.topology_enabled and config.topology_levels:
        found = [(entry, one) for entry, one in found if (one.kind, one.name) != (CLUSTER_TOPOLOGY, DEFAULT_TOPOLOGY)]
        found.insert(0, (None, default_topology(config.topology_levels, snapshot)))
    return [Admission(topology.kind, {"topology": topology}, entry) for entry, topology in found]


def _sets(intake: Intake, config: Configuration, settings: Settings, snapshot: Snapshot, topologies: list[Topology]) -> list[Admission]:
    return [
        Admission(SET_KIND, {"set": ExpandedSet(entry.manifest, settings.namespace, config, settings, snapshot, topologies)}, entry)
        for entry in intake.of_kind(SET_KIND)
    ]


def _former(admission: Admission, former: Intake, settings: Settings) -> PodCliqueSet | Topology | None:
    """The same object before the update, if there is one. It is not judged: only what changes is."""
    manifest = next((one.manifest for one in former.admitted if admission.entry and one.key == admission.entry.key), None)
    if manifest is None or admission.kind == CONFIGURATION_KIND:
        return None
    return PodCliqueSet(manifest, settings.namespace) if admission.kind == SET_KIND else Topology(manifest)


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
