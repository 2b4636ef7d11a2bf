"""Reads inputs as subjects: the sets, topologies and the configuration that rules run for, decoded, defaulted and validated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any

from grove_compiler.decoder import (
    AUTOSCALER_KIND,
    CLAIM_TEMPLATE_KIND,
    CONFIGURATION_KIND,
    SET_KIND,
    TOPOLOGY_KINDS,
    Decoded,
    Decoder,
    InputRules,
)
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.sources import SubjectNames, Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic, errors_of, has_errors
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.known_topologies import Known, decode_existing, known_topologies
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.expansion import Expansion
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.expanded.topology import ExpandedTopology
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList, ObjectReader, Snapshot
from grove_compiler.model.spec.podcliqueset import PodCliqueSet, sharing_levels
from grove_compiler.model.vocabulary import DECISIONS, FORMER_DECISIONS, FUNCTIONS, PARAMETER_WORDS, ROOTS, SUBJECTS
from grove_compiler.old_states import OldStates
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


def read_subjects(inputs: Inputs, program: InputRules) -> Reading:
    """Returns the topologies and sets of the input, validated. Bad input raises nothing."""
    reading = _read(inputs, program)
    configuration = next((subject.entry for subject in reading.subjects if subject.kind == CONFIGURATION_KIND), None)
    if configuration is not None and configuration.faults:
        _drop_consequences(reading, configuration, inputs, program)
    return reading


def _read(inputs: Inputs, program: InputRules) -> Reading:
    settings, namespace, decisions = inputs.settings, inputs.settings.namespace, DecisionRules(program.decisions)
    scope: dict[str, Any] = {"settings": settings}
    decoder = Decoder(program, scope)
    decoder.take([*inputs.documents, *([inputs.config] if inputs.config else [])])
    scope["config"] = config = _configuration(decoder)
    snapshot = Snapshot(_referred_objects(decoder), inputs.view or ObjectList(inputs.snapshot))
    old_states = OldStates(program, scope, inputs.old, snapshot)
    existing = decode_existing(program, scope, snapshot)
    topologies = known_topologies(decoder.of_kind(*TOPOLOGY_KINDS), existing, config, snapshot)
    peers = [topology for topology, _ in topologies if not topology.is_replaced]
    entries = decoder.of_kind(SET_KIND)
    sets = [(ExpandedSet(entry.manifest, namespace, decisions, config, settings, snapshot, peers), entry) for entry in entries]

    def users() -> list[PodCliqueSet]:
        return [*(expanded for expanded, _ in sets), *live_sets(snapshot)]

    for topology, _ in topologies:
        topology.find_sets = users
    declared = [(topology, entry if topology.is_declared else None) for topology, entry in topologies]
    subjects = [
        *(Subject(CONFIGURATION_KIND, {"old": None, "topologies": peers}, entry) for entry in decoder.of_kind(CONFIGURATION_KIND)[:1]),
        *(Subject(topology.kind, {"topology": topology, "old": old_states.topology(entry)}, entry) for topology, entry in declared),
    ]
    for expanded, entry in sets:
        old = old_states.set(entry, namespace)
        subjects.append(Subject(SET_KIND, {"set": expanded, "old": old}, entry, owners=[Expansion(expanded, declared=[expanded, old])]))
    # The user cannot fix a topology of the cluster in this input, so those are only validated for the sets that need them.
    by_topology = {id(topology): entry for topology, entry in topologies if entry is not None}
    used = {id(expanded.topology) for expanded, _ in sets}
    in_use = [(topology, entry) for topology, entry in topologies if not topology.is_declared and id(topology) in used]
    validate_topologies(in_use, scope, settings, program)
    owner = Expansion(*(topology for topology, _ in topologies))
    configurations, claim_templates = decoder.of_kind(CONFIGURATION_KIND), decoder.of_kind(CLAIM_TEMPLATE_KIND)
    for subject in subjects:
        subject.owners = [*subject.owners, owner]
        subject.scope |= scope
        subject.is_update = subject.scope["old"] is not None
        subject.findings = subject.entry.findings if subject.entry else []
        decoder.findings += validate(subject, program, settings)
        subject.needs = list(_needs(subject, configurations, by_topology, claim_templates))
        _report_unusable_topology(subject, existing, decoder)
    is_complete = inputs.is_complete and decoder.is_complete
    if inputs.is_complete and not has_errors(decoder.findings) and not _has_subject(decoder, inputs):
        decoder.findings.append(Diagnostic("input/no-set", "error", f"there is no {SET_KIND} in the input", hint="nothing to compile"))
    return Reading(subjects, decoder.findings, is_complete)


def live_sets(snapshot: Snapshot) -> list[PodCliqueSet]:
    """Returns all sets of the cluster. There may be thousands, so only the question which sets use a topology needs them."""
    return [PodCliqueSet(manifest) for manifest in snapshot.of_kind("grove.io/v1alpha1", SET_KIND)]


def validate(subject: Subject, program: InputRules, settings: Settings, *, errors_only: bool = False) -> list[Diagnostic]:
    """Runs the validation rules for a subject; returns their findings, with places, and adds them to the subject's."""
    entry = subject.entry
    if entry is None or not entry.is_defaulted:
        return []
    try:
        raw = program.validate(subject.scope, "update" if subject.is_update else "create", subject.kind, errors_only=errors_only)
    except RuleFailure as failure:
        # Where invalid parts were dropped, a rule may fail because of them: the structural findings are enough.
        findings = [] if entry.faults else [failure.diagnostic]
    else:
        findings = [*map(entry.restore, raw)]
        if entry.faults and findings:
            findings = _own_mistakes(findings, subject, entry, program)
        expanded = subject.set if not entry.faults and not has_errors(findings) else None
        if expanded is not None and count_objects(expanded, settings.max_objects) > settings.max_objects:
            findings.append(entry.locate(too_many(settings.max_objects)))
    subject.findings += findings
    return findings


def _own_mistakes(findings: list[Diagnostic], subject: Subject, entry: Decoded, program: InputRules) -> list[Diagnostic]:
    """Returns the findings that do not only follow from the invalid values of the entry (`stand_ins`)."""
    from grove_compiler.stand_ins import StandIns  # only where something is wrong

    others = StandIns(entry)
    for other in others.decoded(program, subject.scope):
        trial = replace(subject.scope["set"], manifest=other.manifest)
        scope, _owner = {**subject.scope, "set": trial}, Expansion(trial, declared=[trial])
        try:
            raw = program.validate(scope, "update" if subject.is_update else "create", subject.kind)
        except RuleFailure:
            return []
        found = {(finding.code, finding.path) for finding in map(other.restore, raw)}
        findings = [finding for finding in findings if (finding.code, finding.path) in found]
    return [finding for finding in findings if not others.may_explain(finding)]


def _drop_consequences(reading: Reading, configuration: Decoded, inputs: Inputs, program: InputRules) -> None:
    """Drops findings about sets and topologies that only follow from invalid values of the configuration."""
    from grove_compiler.stand_ins import StandIns  # only where something is wrong

    others = [subject for subject in reading.subjects if subject.findings and subject.kind != CONFIGURATION_KIND]
    for document in StandIns(configuration, is_configuration=True).documents() if others else ():
        stand_in = {id(configuration.document): document}
        documents = [stand_in.get(id(each), each) for each in inputs.documents]
        trial = _read(replace(inputs, documents=documents, config=stand_in.get(id(inputs.config), inputs.config)), program)
        found = {(finding.code, finding.file, finding.path) for finding in trial.findings}
        about = (finding for subject in others for finding in subject.findings)
        dropped = {id(finding) for finding in about if (finding.code, finding.file, finding.path) not in found}
        for findings in (reading.findings, *(subject.findings for subject in others)):
            findings[:] = [finding for finding in findings if id(finding) not in dropped]


def validate_topologies(
    topologies: Known, scope: dict[str, Any], settings: Settings, program: InputRules, *, errors_only: bool = False
) -> None:
    """Validates topologies, and adds the findings to each; a set that refers to an invalid one is held."""
    for topology, entry in topologies:
        findings = entry.findings if entry else []
        subject = Subject(topology.kind, {"topology": topology, "old": None, **scope}, entry, findings)
        validate(subject, program, settings, errors_only=errors_only)


def _report_unusable_topology(subject: Subject, existing: Sequence[Decoded], decoder: Decoder) -> None:
    """Reports errors of a topology of the cluster at the set that needs it, since the topology itself is not in the input."""
    entry = next((entry for entry in subject.needs if entry in existing and has_errors(entry.findings)), None)
    if subject.set is None or entry is None:
        return
    error = errors_of(entry.findings)[0]
    reason = f"{error.path + ': ' if error.path else ''}{error.message}"
    message = f"the {entry.kind} {entry.key[2]!r} in the cluster cannot be used: {reason}"
    finding = Diagnostic("input/topology-unusable", "error", message, subject.set.placement.name_path)
    decoder.report(subject.entry.locate(finding) if subject.entry else finding, *([subject.entry] if subject.entry else []))


def _referred_objects(decoder: Decoder) -> list[Manifest]:
    """Returns the objects of the input that sets refer to by name: claim templates and autoscalers."""
    autoscalers = (manifest for manifest in decoder.others if manifest["kind"] == AUTOSCALER_KIND)
    return [*(entry.manifest for entry in decoder.of_kind(CLAIM_TEMPLATE_KIND)), *autoscalers]


def count_objects(expanded: ExpandedSet, limit: int) -> int:
    """Counts the Services, PodCliques, scaling groups, gangs and, if they are generated, Pods of a set. Stops above `limit`.

    There are some other objects, so the real number is a little higher. Live replica counts of the snapshot are taken into account.
    """
    total, pods = 2 * expanded.replica_count, int(expanded.settings.pods)  # the headless Service and the base gang
    # A declared count may be in the billions, so each is compared before anything is expanded for it.
    if total > limit:
        return total
    for replica in expanded.replicas:
        total += sum(1 + pods * clique.replicas for clique in replica.cliques)
        for group in replica.scaling_groups:
            total += 1 + group.replicas * len(group.template.cliques) + max(0, group.replicas - group.min_available)
            if total > limit:
                return total
            total += sum(pods * clique.replicas for member in group.members for clique in member.cliques)
        if total > limit:
            return total
    return total


def too_many(limit: int) -> Diagnostic:
    """Returns the diagnostic about a set of more objects than the limit."""
    message = f"would generate more than {limit} objects"
    return Diagnostic(
        "limit/objects", "error", message, "spec.replicas", hint="fewer replicas, or a higher limit (--max-objects)", type="Invalid value"
    )


def _needs(
    subject: Subject, configurations: Sequence[Decoded], by_topology: dict[int, Decoded], claim_templates: Sequence[Decoded]
) -> Iterator[Decoded]:
    """Yields the inputs that a subject needs: the configuration, and for a valid set its topology and its claim templates."""
    if subject.kind != CONFIGURATION_KIND:
        yield from configurations
    expanded = subject.set
    if expanded is None or has_errors(subject.findings):
        return
    if id(expanded.topology) in by_topology:
        yield by_topology[id(expanded.topology)]
    names = {ref.name for level in sharing_levels(expanded) for ref in level.refs}
    yield from (entry for entry in claim_templates if entry.key[2] in names)


def _configuration(decoder: Decoder) -> Configuration:
    entries = decoder.of_kind(CONFIGURATION_KIND)
    for entry in entries[1:]:
        finding = Diagnostic("input/two-configurations", "error", f"a second {CONFIGURATION_KIND}; only one is allowed", "kind")
        finding.hint = "--config selects one instead of those in directories"
        decoder.report(entry.locate(finding), entry)
    return Configuration(entries[0].manifest if entries else {})


def _has_subject(decoder: Decoder, inputs: Inputs) -> bool:
    """Reports whether the documents hold anything to compile or to check."""
    return any(entry.document is not inputs.config for entry in decoder.of_kind(SET_KIND, *TOPOLOGY_KINDS, CONFIGURATION_KIND))
