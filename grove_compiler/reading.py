"""Reads inputs as subjects: decoded, defaulted, expanded and validated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from grove_compiler.graph.diagnostic import Diagnostic, errors_of, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.known_topologies import Known, decode_existing, known_topologies
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.expanded.expansion import Expansion
from grove_compiler.model.expanded.structure import ExpandedSet
from grove_compiler.model.expanded.topology import ExpandedTopology
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList, Snapshot
from grove_compiler.model.spec.podcliqueset import sharing_levels
from grove_compiler.old_states import OldStates, all_as_recorded
from grove_compiler.record import record
from grove_compiler.subjects import Inputs, Reading, Subject, live_sets
from grove_compiler.validation import validate, validate_topologies


def read_subjects(inputs: Inputs, program: InputRules) -> Reading:
    """Returns the topologies and sets of the input, validated. Bad input raises nothing."""
    reading = _read(inputs, program)
    configuration = next((subject.entry for subject in reading.subjects if subject.kind == CONFIGURATION_KIND), None)
    if configuration is not None and configuration.faults:
        _drop_consequences(reading, configuration, inputs, program)
    return reading


def _read(inputs: Inputs, program: InputRules) -> Reading:
    expanded = _expand(inputs, program)
    subjects = list(_subjects(expanded, OldStates(program, expanded.scope, expanded.old, expanded.snapshot)))
    _validate(subjects, expanded, program)
    decoder = expanded.decoder
    if inputs.is_complete and not has_errors(decoder.findings) and not _has_subject(decoder, inputs):
        decoder.findings.append(Diagnostic("input/no-set", "error", f"there is no {SET_KIND} in the input", hint="nothing to compile"))
    return Reading(subjects, decoder.findings, inputs.is_complete and decoder.is_complete)


@record
class _ExpandedInputs:
    """Holds the sets of an input and all topologies, also those that only the cluster has (`existing`), with what each is decoded from.

    `scope` are the roots that all rules share; `peers` the topologies that count; `old` the given states before an update.
    """

    decoder: Decoder
    scope: dict[str, Any]
    settings: Settings
    snapshot: Snapshot
    existing: list[Decoded]
    topologies: Known
    peers: list[ExpandedTopology]
    sets: list[tuple[ExpandedSet, Decoded]]
    old: list[Decoded]


def _expand(inputs: Inputs, program: InputRules) -> _ExpandedInputs:
    scope: dict[str, Any] = {"settings": (settings := inputs.settings)}
    view = inputs.view or ObjectList(inputs.snapshot)
    old = Decoder(program, scope).take(all_as_recorded(inputs.old, Snapshot((), view))) if inputs.old else []
    decoder = Decoder(program, scope, _by_key(old, settings.namespace))
    decoder.take([*inputs.documents, *([inputs.config] if inputs.config else [])])
    scope["config"] = config = _configuration(decoder)
    snapshot = Snapshot(_referred_objects(decoder), view)
    existing = decode_existing(program, scope, snapshot)
    topologies = known_topologies(decoder.of_kind(*TOPOLOGY_KINDS), existing, config, snapshot)
    peers, decisions = [topology for topology, _ in topologies if not topology.is_replaced], DecisionRules(program.decisions)
    sets = [
        (ExpandedSet(entry.manifest, settings.namespace, decisions, config, settings, snapshot, peers), entry)
        for entry in decoder.of_kind(SET_KIND)
    ]
    for topology, _ in topologies:
        topology.find_sets = lambda: [*(one for one, _ in sets), *live_sets(snapshot)]
    return _ExpandedInputs(decoder, scope, settings, snapshot, existing, topologies, peers, sets, old)


def _by_key(old: Sequence[Decoded], namespace: str) -> dict[tuple[str, str, str], Manifest]:
    """Returns states before an update by kind, namespace and name. One without a namespace is in the given one, too."""
    former: dict[tuple[str, str, str], Manifest] = {}
    for entry in old:
        kind, named, name = entry.key
        former |= {(kind, place, name): entry.manifest for place in (("", namespace) if named in ("", namespace) else (named,))}
    return former


def _subjects(expanded: _ExpandedInputs, old_states: OldStates) -> Iterator[Subject]:
    """Yields the configuration, the topologies and the sets, each with its old state. A topology of the cluster has no entry."""
    topologies = Expansion(*(topology for topology, _ in expanded.topologies))

    def subject(kind: str, entry: Decoded | None, old: Any, owners: Sequence[Expansion] = (), **roots: Any) -> Subject:
        scope = {**roots, "old": old, **expanded.scope}
        findings = entry.findings if entry else []
        return Subject(kind, scope, entry, findings, is_update=old is not None, owners=[*owners, topologies])

    for entry in expanded.decoder.of_kind(CONFIGURATION_KIND)[:1]:
        yield subject(CONFIGURATION_KIND, entry, None, topologies=expanded.peers)
    for topology, decoded in expanded.topologies:
        own = decoded if topology.is_declared else None
        yield subject(topology.kind, own, old_states.topology(own), topology=topology)
    for one, entry in expanded.sets:
        old = old_states.set(entry, expanded.settings.namespace)
        yield subject(SET_KIND, entry, old, [Expansion(one, declared=[one, old])], set=one)


def _validate(subjects: Sequence[Subject], expanded: _ExpandedInputs, program: InputRules) -> None:
    """Adds the findings about each subject to it and to those of the input, and what it needs.

    The user cannot fix a topology of the cluster in this input, so those are only validated for the sets that need them.
    """
    decoder, settings = expanded.decoder, expanded.settings
    used = {id(one.topology) for one, _ in expanded.sets}
    in_use = [(topology, entry) for topology, entry in expanded.topologies if not topology.is_declared and id(topology) in used]
    validate_topologies(in_use, expanded.scope, settings, program)
    by_topology = {id(topology): entry for topology, entry in expanded.topologies if entry is not None}
    configurations, claim_templates = decoder.of_kind(CONFIGURATION_KIND), decoder.of_kind(CLAIM_TEMPLATE_KIND)
    for subject in subjects:
        decoder.findings += validate(subject, program, settings)
        subject.needs = list(_needs(subject, configurations, by_topology, claim_templates))
        _report_unusable_topology(subject, expanded.existing, decoder)


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
