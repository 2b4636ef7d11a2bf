"""The one function: inputs to every object that should exist. Read it from top to bottom to know what happens when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grove_compiler.engine.program import Condition, Program, RuleFailure, TooManyObjects
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.graph import After, Graph
from grove_compiler.graph.node import Manifest, Node, ObjectRef
from grove_compiler.intake import CLAIM_TEMPLATE_KIND, CONFIGURATION_KIND, SET_KIND, Admitted, Intake
from grove_compiler.model.configuration import Configuration, read_configuration
from grove_compiler.model.declared import PodCliqueSet
from grove_compiler.model.derived import ExpandedSet
from grove_compiler.model.object_count import count_objects
from grove_compiler.model.settings import Settings
from grove_compiler.model.snapshot import Snapshot
from grove_compiler.model.vocabulary import FUNCTIONS, ROOTS, UPDATE_ROOTS
from grove_compiler.source.document import Document

VOCABULARY = Vocabulary(ROOTS, FUNCTIONS, UPDATE_ROOTS)
"""The names that rules may use; programs for `compile` are built with it."""


@dataclass(slots=True, eq=False)
class Inputs:
    """All that a compilation depends on.

    `documents` hold the sets and what they refer to. `snapshot` is what exists, with UIDs and status; without it nothing does.
    `old` holds the former state of sets that are updated. `config` is the OperatorConfiguration, unless it is among the documents.
    """

    documents: list[Document]
    snapshot: list[Manifest] = field(default_factory=list)
    old: list[Document] = field(default_factory=list)
    config: Document | None = None
    settings: Settings = field(default_factory=Settings)


@dataclass(slots=True, eq=False)
class SetStatus:
    """What the status of a set would say, and the conditions of the objects that were generated for it."""

    ref: ObjectRef
    generation_hash: str
    conditions: list[Condition]


@dataclass(slots=True, eq=False)
class Result:
    """The graph of all objects in apply order, a status for each set, and everything that was found. With errors, both are empty."""

    graph: Graph
    statuses: list[SetStatus] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def compile(inputs: Inputs, program: Program) -> Result:
    """Every object that should exist for the sets of `inputs`. Equal inputs give equal results; nothing is raised for bad ones."""
    sets, findings = _admit(inputs, program)
    result = Result(Graph([], _after(program)), [], findings)
    if has_errors(findings):
        return result
    for number, (entry, expanded) in enumerate(sets):
        try:
            _expand(number, expanded, inputs.settings, program, result)
        except TooManyObjects:
            findings.append(entry.locate(_too_many(inputs.settings.max_objects)))
        except RuleFailure as failure:
            findings.append(failure.diagnostic)
    findings += result.graph.collisions()
    return result if not has_errors(findings) else Result(Graph([], {}), [], findings)


def lint(inputs: Inputs, program: Program) -> list[Diagnostic]:
    """Defaults and validation alone: everything that is wrong with `inputs`, or with an update from `inputs.old`."""
    return _admit(inputs, program)[1]


def _admit(inputs: Inputs, program: Program) -> tuple[list[tuple[Admitted, ExpandedSet]], list[Diagnostic]]:
    """The sets, structurally sound, defaulted and validated, with all that was found on the way."""
    scope: dict[str, Any] = {"settings": inputs.settings}
    intake = Intake(program, scope)
    intake.take([*inputs.documents, *([inputs.config] if inputs.config else [])])
    config = _configuration(intake)
    scope["config"] = config
    templates = [entry.manifest for entry in intake.of_kind(CLAIM_TEMPLATE_KIND)]
    snapshot = Snapshot([*inputs.snapshot, *templates])
    former = _former_sets(inputs, program, scope)
    sets = []
    for entry in intake.of_kind(SET_KIND):
        expanded = ExpandedSet(entry.manifest, inputs.settings.namespace, config, inputs.settings, snapshot)
        old = former.get(entry.key)
        intake.findings += _validate(entry, expanded, old, program, scope, inputs.settings)
        sets.append((entry, expanded))
    if not sets and not has_errors(intake.findings):
        intake.findings.append(Diagnostic("input/no-set", "error", f"there is no {SET_KIND} in the input", hint="nothing to compile"))
    return sets, intake.findings


def _configuration(intake: Intake) -> Configuration:
    found = intake.of_kind(CONFIGURATION_KIND)
    for entry in found[1:]:
        finding = Diagnostic("input/two-configurations", "error", f"a second {CONFIGURATION_KIND}; there can be one", "kind")
        intake.findings.append(entry.locate(finding))
    return read_configuration(found[0].manifest if found else None)


def _former_sets(inputs: Inputs, program: Program, scope: dict[str, Any]) -> dict[tuple[str, str, str], PodCliqueSet]:
    """The sets before the update, by kind, namespace and name. They are not judged: only what changes is."""
    intake = Intake(program, scope)
    intake.take(inputs.old)
    return {entry.key: PodCliqueSet(entry.manifest, inputs.settings.namespace) for entry in intake.of_kind(SET_KIND)}


def _validate(
    entry: Admitted, expanded: ExpandedSet, old: PodCliqueSet | None, program: Program, scope: dict[str, Any], settings: Settings
) -> list[Diagnostic]:
    try:
        found = program.validate({**scope, "set": expanded, "old": old}, "create" if old is None else "update")
    except RuleFailure as failure:
        return [] if entry.faults else [failure.diagnostic]
    findings = [finding for finding in map(entry.restore, found) if not entry.is_clouded(finding)]
    if not entry.faults and not has_errors(findings) and count_objects(expanded, settings.max_objects) > settings.max_objects:
        findings.append(entry.locate(_too_many(settings.max_objects)))
    return findings


def _expand(number: int, expanded: ExpandedSet, settings: Settings, program: Program, result: Result) -> None:
    """Adds the objects of one set to the result; the first position of every loop is the set's number."""
    scope = {"set": expanded, "config": expanded.config, "settings": settings}
    room = settings.max_objects - len(result.graph.nodes)
    nodes: list[Node] = program.generate(scope, room, (number,))
    result.graph.nodes += nodes
    result.statuses.append(SetStatus(expanded.ref, expanded.generation_hash, program.conditions(scope)))


def _after(program: Program) -> After:
    return {rule.id: [(other, shared + 1) for other, shared in rule.after] for rule in program.rules if rule.after}


def _too_many(limit: int) -> Diagnostic:
    message = f"would become more than {limit} objects"
    return Diagnostic("limit/objects", "error", message, "spec.replicas", hint="fewer replicas, or a higher limit", type="Invalid value")
