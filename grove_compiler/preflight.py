"""Injects preflight checks into pods (ADR-026): what the rules of `rules/preflight` make of a pod, as a JSON Patch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.engine.runtime.patching import patch_add, pointer
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest, Node
from grove_compiler.kube.defaults import apply_defaults
from grove_compiler.kube.definitions import DEFINITIONS
from grove_compiler.kube.structure import check_and_prune
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList, Objects, Snapshot
from grove_compiler.model.preflight.gang import GangReference
from grove_compiler.model.preflight.pod import CheckedPod
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.record import record
from grove_compiler.source.document import Document

SUBJECT = "PreflightPod"
BLOCK = "preflight-injector"
"""What the values stand below in a chart's values, as the design prints them."""
VALUES_SCHEMA = {"ref": "preflight.grove.io/v1alpha1.PreflightValues"}


@record
class Injection:
    """What becomes of a pod: JSON Patch operations (RFC 6902), none for a pod that stays as it is, and what there is to say.

    A pod with an error among `findings` is to be refused; `patch` is empty then. `gang` is the one in which checks will wait for others.
    """

    pod: Manifest
    patch: list[Manifest] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    gang: GangReference | None = None

    @property
    def injected(self) -> Manifest:
        """The pod after the patch; what does not change is shared with the pod as it was."""
        result = self.pod
        for operation in self.patch:
            result = patch_add(result, pointer(operation["path"]), operation["value"])
        return result


def read_values(document: Document | None) -> tuple[Preflight, list[Diagnostic]]:
    """Returns the Helm values in a document, with all defaults, and what is wrong with them; the defaults alone without a document.

    They may stand below `preflight-injector`, as in the values of a chart that has it among others.
    """
    value: Any = document.value if document is not None else {}
    at: tuple[str, ...] = ()
    if isinstance(value, dict) and BLOCK in value:
        value, at = value[BLOCK], (BLOCK,)
    findings, cleaned = check_and_prune({} if value is None else value, VALUES_SCHEMA, DEFINITIONS, at)
    told = [finding for _, finding in findings]
    for path, finding in findings:
        if document is not None:
            finding.file = document.file
            finding.line, finding.column = document.place(path)
    return Preflight(apply_defaults(cleaned if isinstance(cleaned, dict) else {}, VALUES_SCHEMA, DEFINITIONS)), told


def inject(pod: Manifest, view: Objects | None, preflight: Preflight, program: Program, namespace: str = "default") -> Injection:
    """Returns what the rules make of a pod that is created, given what exists. Nothing is changed in place, and nothing is raised.

    `namespace` is that of a pod that names none. What `view` does not know yet counts as unknown, as the values say.
    """
    own = (pod.get("metadata") or {}).get("namespace")
    checked = CheckedPod(pod, own or namespace, preflight, Snapshot(view=view), DecisionRules(program.decisions))
    settings = Settings(namespace=namespace)
    scope = {"pod": checked, "preflight": preflight, "settings": settings, "config": Configuration({})}
    try:
        findings = program.validate(scope, "create", SUBJECT)
        nodes = [] if has_errors(findings) else program.generate(scope, settings.max_objects, (), SUBJECT)
    except RuleFailure as failure:
        return Injection(pod, findings=[failure.diagnostic])
    patch = [operation for node in nodes for operation in _operations(pod, node.object, preflight.placement == "prepend")]
    return Injection(pod, patch, findings, checked.gang if patch and checked.has_gang_check else None)


def inject_compiled(
    nodes: Sequence[Node], existing: Sequence[Manifest], preflight: Preflight, program: Program
) -> tuple[list[Node], list[Diagnostic]]:
    """Returns compiled objects with the checks in their pods, as admission makes them once the others exist, and what there is to say."""
    view = ObjectList([*existing, *(node.object for node in nodes if node.object["kind"] != "Pod")])
    injections = {node.id: inject(node.object, view, preflight, program) for node in nodes if node.object["kind"] == "Pod"}
    changed = [node._replace(object=injections[node.id].injected) if node.id in injections else node for node in nodes]
    told: dict[tuple[str, str, str], Diagnostic] = {}
    for one in injections.values():
        for finding in one.findings:
            told.setdefault((finding.code, finding.path, finding.message), finding)  # pods of a clique are alike
    return changed, list(told.values())


def _operations(pod: Manifest, injection: Manifest, prepend: bool) -> list[Manifest]:
    """Returns what adds the entries of an injection's lists to those of the pod, in the form that needs no look at the pod."""
    operations: list[Manifest] = []
    for key, items in injection["spec"].items():
        path = f"/spec/{key}"
        if not items:
            continue
        if not (pod.get("spec") or {}).get(key):
            operations.append({"op": "add", "path": path, "value": items})
        elif prepend and key == "initContainers":
            operations += ({"op": "add", "path": f"{path}/{index}", "value": item} for index, item in enumerate(items))
        else:
            operations += ({"op": "add", "path": f"{path}/-", "value": item} for item in items)
    return operations + _labelled(pod, injection["metadata"].get("labels") or {})


def _labelled(pod: Manifest, labels: dict[str, str]) -> list[Manifest]:
    present = (pod.get("metadata") or {}).get("labels")
    if not present:
        return [{"op": "add", "path": "/metadata/labels", "value": labels}] if labels else []
    new = {key: value for key, value in labels.items() if present.get(key) != value}
    return [
        {"op": "add", "path": f"/metadata/labels/{key.replace('~', '~0').replace('/', '~1')}", "value": value} for key, value in new.items()
    ]
