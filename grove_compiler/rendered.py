"""Checks objects that users' rules take part in against the schema of their kind, since some mistakes only show in rendered objects.

Objects of built-in rules alone are not checked: a test ensures that their templates are valid, and checking a thousand pods would cost
every run a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Sequence

from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Node
from grove_compiler.kube.definitions import DEFINITIONS
from grove_compiler.kube.structure import Schema, check
from grove_compiler.kube.structure_findings import without_value
from kube_objects.words import counted

OWNERS = ("metadata", "ownerReferences")
"""The path of owner references, which the program writes itself; their UIDs are only known in a cluster."""


def check_rendered(nodes: Sequence[Node], program: Program, known: Sequence[Diagnostic] = ()) -> list[Diagnostic]:
    """Returns what an API server would reject, once for each mistake of a rule, at the nearest line of the template or patch.

    Kinds without a schema here pass. Warnings that are `known` from the input are not repeated for the objects made of it.
    """
    known_messages = {finding.message for finding in known}
    findings: dict[tuple[str, str, str], tuple[Diagnostic, set[str]]] = {}
    for node in nodes:
        schema = _schema_of(node) if node.rule in program.user_rendered else None
        for path, finding in check(node.object, schema, DEFINITIONS) if schema is not None else ():
            is_part = bool(node.policy.get("operator")) and finding.code == "schema/required"  # others write the rest of the object
            if is_part or path[:2] == OWNERS or (finding.severity == "warning" and finding.message in known_messages):
                continue
            field = "".join(f"/{step}" for step in path if isinstance(step, str))
            finding.file, finding.line = program.place_of(node.rule, path)
            _, objects = findings.setdefault((node.rule, field, finding.code), (finding, set()))
            objects.add(node.id)
            if len(objects) == 1:
                _reword(finding, node)
    for finding, objects in findings.values():
        if len(objects) > 1:
            finding.message += f" (and the same in {counted(len(objects) - 1, 'other object')})"
    return [finding for finding, _ in findings.values()]


def _reword(finding: Diagnostic, node: Node) -> None:
    """Rewords a finding about an object for the author of its rule; never shows a value of a Secret."""
    message = finding.message
    if node.object["kind"] == "Secret":
        message = without_value(message)
    if finding.code == "schema/wrong-type" and finding.hint:  # hints are for who writes YAML, and this was an expression
        finding.hint = "what is one whole {{ }} keeps its type: `| string` makes a text of it, `| int` a number"
    finding.message, finding.value, finding.type = f"{node.id}: {message}", None, ""


def _schema_of(node: Node) -> Schema | None:
    version = str(node.object.get("apiVersion"))
    name = f"{version if '/' in version else f'core/{version}'}.{node.object['kind']}"
    try:
        DEFINITIONS[name]
    except KeyError:
        return None
    return {"ref": name}
