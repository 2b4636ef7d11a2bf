"""The one function: inputs to every object that should exist. Read it from top to bottom to know what happens when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from math import inf

from grove_compiler.decoder import CONFIGURATION_KIND
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Part, Program, TooManyObjects
from grove_compiler.engine.runtime.results import Condition
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.graph import After, Graph
from grove_compiler.graph.node import Node, ObjectRef
from grove_compiler.model.expanded.structure import Replica
from grove_compiler.model.expanded.whole_statuses import without_waiting
from grove_compiler.record import record
from grove_compiler.rendered import check_rendered
from grove_compiler.subjects import VOCABULARY, Inputs, Reading, Subject, read_subjects, too_many

__all__ = ["VOCABULARY", "Inputs", "Result", "SubjectResult", "compile", "lint", "lint_manifests"]


@record
class SubjectResult:
    """What became of one set or topology: its own objects and conditions, or the reason why it has none.

    `hold` is that reason, empty when `nodes` are complete: whoever prunes may take only such nodes for all that is wanted. `number` is
    the first position in the loops of its nodes. `generation_hash` is that of a set; empty for a topology.
    """

    kind: str
    ref: ObjectRef
    number: int
    findings: list[Diagnostic]
    hold: str = ""
    nodes: list[Node] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    generation_hash: str = ""


@record(slots=False)
class Result:
    """What became of each subject, in the order in which their objects are made, and everything that is wrong, in that of the input.

    An error in one subject takes nothing from the others: `graph` has the objects of those that are sound. Whoever wants all or
    nothing, as the command line does, asks `has_errors(result.diagnostics)` first. `is_whole` is false when a part of the input
    belongs to no subject that could be told: a subject that is missing may only be unreadable then, and must not count as gone.
    """

    after: After
    subjects: list[SubjectResult] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    is_whole: bool = True

    @cached_property
    def graph(self) -> Graph:
        """The objects of all sound subjects, in apply order."""
        return Graph([node for subject in self.subjects for node in subject.nodes], self.after)

    @property
    def statuses(self) -> list[SubjectResult]:
        """The sound sets."""
        return [subject for subject in self.subjects if subject.generation_hash and not subject.hold]


def compile(inputs: Inputs, program: Program) -> Result:
    """Returns every object that should exist for the sets and topologies of `inputs`, for each of them by itself.

    Equal inputs give equal results; nothing is raised for bad ones. Neither inputs nor results may be changed by anybody once they
    were compiled, for their objects share parts.
    """
    reading = read_subjects(inputs, program)
    result = Result(waits_of(program), diagnostics=reading.findings, is_whole=reading.is_whole)
    room = inputs.settings.max_objects
    for number, subject in enumerate(reading.subjects):
        one = expand(subject, number, program, room, inputs.settings.max_objects)
        result.diagnostics += one.findings[len(subject.findings) :]
        result.subjects.append(one)
        room -= len(one.nodes)
    _hold_collisions(result)
    return result


def lint(inputs: Inputs, program: Program) -> list[Diagnostic]:
    """Returns everything that is wrong with `inputs`, or with an update from `inputs.old`: defaults and validation alone."""
    return _judged(inputs, program).findings


def lint_manifests(inputs: Inputs, program: Program) -> list[Diagnostic]:
    """Returns what `lint` does, but for what is wrong with the configuration: whoever asks of many manifests has told that once."""
    reading = _judged(inputs, program)
    told = {id(one) for subject in reading.subjects if subject.kind == CONFIGURATION_KIND for one in subject.findings}
    return [one for one in reading.findings if id(one) not in told]


def _judged(inputs: Inputs, program: Program) -> Reading:
    reading = read_subjects(inputs, program)
    if inputs.old and not has_errors(reading.findings) and not any(subject.is_update for subject in reading.subjects):
        message = "nothing of the input is in its former state under the same namespace and name, so no change was judged"
        reading.findings.append(
            Diagnostic("input/no-former", "warning", message, hint="-n names the namespace of manifests that name none")
        )
    return reading


def expand(subject: Subject, number: int, program: Program, room: int, limit: int, part: Part = "all") -> SubjectResult:
    """Runs the rules for one subject, or for a part of it. There is `room` for so many objects of the `limit`; a rule that fails holds it.

    The first position of every loop is `number`. Findings are those of the subject, and then what generating found.
    """
    result = SubjectResult(subject.kind, subject.ref, number, list(subject.findings), subject.hold)
    if result.hold:
        return result
    try:
        result.nodes = program.generate(subject.scope, room, (number,), subject.kind, part)
        now = subject.scope.get("now", inf)  # who does not know the time is told what only waits for a moment
        result.conditions = without_waiting(program.conditions(subject.scope, subject.kind, part), _replicas(subject, part), now)
        result.generation_hash = subject.set.generation_hash if subject.set is not None else ""
        findings = check_rendered(result.nodes, program, subject.findings) if program.user_rendered else []
    except TooManyObjects:
        finding = too_many(limit)
        _hold(result, subject.entry.locate(finding) if subject.entry else finding)
    except RuleFailure as failure:
        _hold(result, failure.diagnostic)
    else:
        result.findings += [finding for finding in findings if finding.severity == "warning"]
        for finding in [finding for finding in findings if finding.severity == "error"]:
            _hold(result, finding)
    return result


def _replicas(subject: Subject, part: Part) -> Sequence[Replica]:
    """The replicas of a part of a set."""
    if subject.set is None or part == "rest":
        return ()
    return subject.set.replicas if part == "all" else [subject.set.replicas[part]]


def waits_of(program: Program) -> After:
    """Returns for each rule the rules whose objects come before its own, and how many loop positions they share, the subject's included."""
    return {rule.id: [(other, shared + 1) for other, shared in rule.after] for rule in program.rules if rule.after}


def _hold(result: SubjectResult, finding: Diagnostic) -> None:
    """Leaves a subject without objects: half of them would look as if the rest were not wanted."""
    result.findings.append(finding)
    result.hold = result.hold or finding.message
    result.nodes, result.conditions, result.generation_hash = [], [], ""


def _hold_collisions(result: Result) -> None:
    """Holds the subjects of which two objects would have one name: none can be told to be the right one."""
    collisions = result.graph.collisions()
    for one, other, finding in collisions:
        result.diagnostics.append(finding)
        for number in {one.loop[0], other.loop[0]}:
            _hold(result.subjects[number], finding)
    if collisions:
        del result.graph
