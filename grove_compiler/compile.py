"""The one function: inputs to every object that should exist. Read it from top to bottom to know what happens when."""

from __future__ import annotations

from dataclasses import dataclass, field

from grove_compiler.admission import VOCABULARY, Admission, Inputs, admit, too_many
from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.program import Program, TooManyObjects
from grove_compiler.engine.runtime.results import Condition
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.graph import After, Graph
from grove_compiler.graph.node import ObjectRef

__all__ = ["VOCABULARY", "Inputs", "Result", "SetStatus", "compile", "lint"]


@dataclass(slots=True, eq=False)
class SetStatus:
    """What the status of a set would say, and the conditions of the objects that were generated for it.

    `number` is the first position in the loops of its nodes.
    """

    ref: ObjectRef
    generation_hash: str
    conditions: list[Condition]
    number: int = 0


@dataclass(slots=True, eq=False)
class Result:
    """The graph of all objects in apply order, a status for each set, and everything that was found. With errors, both are empty."""

    graph: Graph
    statuses: list[SetStatus] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def compile(inputs: Inputs, program: Program) -> Result:
    """Every object that should exist for the sets and topologies of `inputs`.

    Equal inputs give equal results; nothing is raised for bad ones. Neither inputs nor results may be changed by anybody once they
    were compiled, for their objects share parts.
    """
    admissions, findings = admit(inputs, program)
    result = Result(Graph([], _after(program)), [], findings)
    if has_errors(findings):
        return result
    for number, admission in enumerate(admissions):
        try:
            _expand(number, admission, inputs.settings.max_objects, program, result)
        except TooManyObjects:
            finding = too_many(inputs.settings.max_objects)
            findings.append(admission.entry.locate(finding) if admission.entry else finding)
        except RuleFailure as failure:
            findings.append(failure.diagnostic)
    findings += result.graph.collisions()
    return result if not has_errors(findings) else Result(Graph([], {}), [], findings)


def lint(inputs: Inputs, program: Program) -> list[Diagnostic]:
    """Defaults and validation alone: everything that is wrong with `inputs`, or with an update from `inputs.old`."""
    admissions, findings = admit(inputs, program)
    if inputs.old and not has_errors(findings) and all(admission.scope["old"] is None for admission in admissions):
        message = "nothing of the input is in its former state under the same namespace and name, so no change was judged"
        findings.append(Diagnostic("input/no-former", "warning", message, hint="-n names the namespace of manifests that name none"))
    return findings


def _expand(number: int, admission: Admission, limit: int, program: Program, result: Result) -> None:
    """Adds the objects of one set or topology to the result; the first position of every loop is its number."""
    room = limit - len(result.graph.nodes)
    result.graph.nodes += program.generate(admission.scope, room, (number,), admission.kind)
    conditions = program.conditions(admission.scope, admission.kind)
    if admission.set is not None:
        result.statuses.append(SetStatus(admission.set.ref, admission.set.generation_hash, conditions, number))


def _after(program: Program) -> After:
    return {rule.id: [(other, shared + 1) for other, shared in rule.after] for rule in program.rules if rule.after}
