"""Compiles inputs to every object that should exist. Read it from top to bottom to know what happens when."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from math import inf

from grove_compiler.decoder import CONFIGURATION_KIND
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Part, Program, TooManyObjects
from grove_compiler.engine.runtime.results import StatusCondition
from grove_compiler.graph.diagnostic import Diagnostic, errors_of, has_errors
from grove_compiler.graph.graph import After, CompiledGraph
from grove_compiler.graph.node import Node, ObjectRef
from grove_compiler.model.expanded.deferred_statuses import deferred_statuses
from grove_compiler.reading import read_subjects
from grove_compiler.record import record
from grove_compiler.rendered import check_rendered
from grove_compiler.subjects import VOCABULARY, Inputs, Reading, Subject
from grove_compiler.validation import too_many

__all__ = ["VOCABULARY", "CompileResult", "Inputs", "SubjectResult", "compile", "lint", "lint_manifests"]


@record
class SubjectResult:
    """The result for one set or topology: its own objects and conditions, or the reason why it has none.

    `hold` is that reason, empty when `nodes` are complete: only complete nodes may prune. `number` is the first position in the loops of
    its nodes. `generation_hash` is that of a set; empty for a topology.
    """

    kind: str
    ref: ObjectRef
    number: int
    findings: list[Diagnostic]
    hold: str = ""
    nodes: list[Node] = field(default_factory=list)
    conditions: list[StatusCondition] = field(default_factory=list)
    generation_hash: str = ""


@record(slots=False)
class CompileResult:
    """The results of all subjects, in the order in which their objects are made, and all diagnostics, in the order of the input.

    An error in one subject does not affect the others: `graph` has the objects of the valid ones. Callers that want all or nothing, as the
    command line, check `has_errors(result.diagnostics)` first. `is_complete` is false when a part of the input could not be assigned to a
    subject: a missing subject may only be unreadable then, and must not count as gone.
    """

    after: After
    subjects: list[SubjectResult] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    is_complete: bool = True

    @cached_property
    def graph(self) -> CompiledGraph:
        """The objects of all valid subjects, in apply order."""
        return CompiledGraph([node for subject in self.subjects for node in subject.nodes], self.after)

    @property
    def statuses(self) -> list[SubjectResult]:
        """The results of the valid sets."""
        return [subject for subject in self.subjects if subject.generation_hash and not subject.hold]


def compile(inputs: Inputs, program: Program) -> CompileResult:  # noqa: A001 - the verb of the whole program, as in `re.compile`
    """Returns every object that should exist for each set and topology in `inputs`.

    Equal inputs give equal results. Bad inputs raise nothing: they give diagnostics. Neither inputs nor results may be changed after
    compilation, because their objects share parts.
    """
    reading = read_subjects(inputs, program)
    result = CompileResult(apply_order(program), diagnostics=reading.findings, is_complete=reading.is_complete)
    room = inputs.settings.max_objects
    for number, subject in enumerate(reading.subjects):
        outcome = run_rules(subject, number, program, room, inputs.settings.max_objects)
        _drop_deferred_conditions(outcome, subject)
        result.diagnostics += outcome.findings[len(subject.findings) :]
        result.subjects.append(outcome)
        room -= len(outcome.nodes)
    _hold_collisions(result)
    return result


def lint(inputs: Inputs, program: Program) -> list[Diagnostic]:
    """Returns all diagnostics of `inputs`, and of the update from `inputs.old`, by defaulting and validation alone, without generating."""
    return _validated(inputs, program).findings


def lint_manifests(inputs: Inputs, program: Program) -> list[Diagnostic]:
    """Returns the diagnostics of `lint` except those on the configuration: callers with many manifests report these once, elsewhere."""
    reading = _validated(inputs, program)
    of_configuration = {id(finding) for subject in reading.subjects if subject.kind == CONFIGURATION_KIND for finding in subject.findings}
    return [finding for finding in reading.findings if id(finding) not in of_configuration]


def _validated(inputs: Inputs, program: Program) -> Reading:
    """Reads the subjects, applies defaults and validates them."""
    reading = read_subjects(inputs, program)
    if inputs.old and not has_errors(reading.findings) and not any(subject.is_update for subject in reading.subjects):
        message = "nothing in the input has the same namespace and name in the old state, so no change was checked"
        reading.findings.append(Diagnostic("input/no-former", "warning", message, hint="-n sets the namespace of manifests that name none"))
    return reading


def run_rules(subject: Subject, number: int, program: Program, room: int, limit: int, part: Part = "all") -> SubjectResult:
    """Generates the objects and conditions of one subject, or of a part of it. A failing rule, or more than `room` objects, hold it.

    `room` is what earlier subjects have left of the `limit`, which messages name. `number` becomes the first loop position of each object.
    The findings are those of the subject, then those of generating.
    """
    result = SubjectResult(subject.kind, subject.ref, number, list(subject.findings), subject.hold)
    if result.hold:
        return result
    try:
        result.nodes = program.generate(subject.scope, room, subject.kind, part, position=(number,))
        result.conditions = program.conditions(subject.scope, subject.kind, part)
        result.generation_hash = subject.set.generation_hash if subject.set is not None else ""
        findings = check_rendered(result.nodes, program, subject.findings) if program.user_rendered else []
    except TooManyObjects:
        finding = too_many(limit)
        _hold(result, subject.entry.locate(finding) if subject.entry else finding)
    except RuleFailure as failure:
        _hold(result, failure.diagnostic)
    else:
        result.findings += [finding for finding in findings if finding.severity == "warning"]
        for finding in errors_of(findings):
            _hold(result, finding)
    return result


def _drop_deferred_conditions(result: SubjectResult, subject: Subject) -> None:
    """Removes the conditions of PodCliques whose status is deferred. No time passes offline, so none is deferred until a time."""
    try:
        deferred = deferred_statuses(result.conditions, subject.set.replicas if subject.set is not None else (), inf)
    except RuleFailure as failure:
        _hold(result, failure.diagnostic)
    else:
        result.conditions = [condition for condition in result.conditions if condition.of not in deferred]


def apply_order(program: Program) -> After:
    """Returns for each rule the rules whose objects are applied first, with the number of shared loop positions, the subject's included."""
    return {rule.id: [(other, shared + 1) for other, shared in rule.after] for rule in program.rules if rule.after}


def _hold(result: SubjectResult, finding: Diagnostic) -> None:
    """Holds a subject and drops its objects: an incomplete graph would prune the missing ones."""
    result.findings.append(finding)
    result.hold = result.hold or finding.message
    result.nodes, result.conditions, result.generation_hash = [], [], ""


def _hold_collisions(result: CompileResult) -> None:
    """Holds the subjects whose objects have the same name: none of them is known to be the right one."""
    collisions = result.graph.collisions()
    for node, other, finding in collisions:
        result.diagnostics.append(finding)
        for number in {node.loop[0], other.loop[0]}:
            _hold(result.subjects[number], finding)
    if collisions:
        del result.graph  # cached from before the subjects were held
