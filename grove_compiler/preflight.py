"""Injects preflight checks into pods (ADR-026), by the rules in `rules/preflight`, as a JSON Patch."""

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
from grove_compiler.kube.metadata_patch import metadata_operations
from grove_compiler.kube.structure import check_and_prune
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.inputs.configuration import Configuration
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList, ObjectReader, Snapshot
from grove_compiler.model.preflight.gang import GangReference
from grove_compiler.model.preflight.pod import CheckedPod
from grove_compiler.model.preflight.values import Preflight
from grove_compiler.preflight_values import contradictions
from grove_compiler.record import record
from grove_compiler.source.document import Document

SUBJECT = "PreflightPod"
BLOCK = "preflight-injector"
"""The key of the values inside an umbrella chart's values, as in the design."""
VALUES_SCHEMA = {"ref": "preflight.grove.io/v1alpha1.PreflightValues"}


@record
class Injection:
    """The result of admission for a pod: the JSON Patch operations (RFC 6902), empty for an unchanged pod, and the findings.

    A pod with an error among `findings` is to be rejected; `patch` is empty then. `gang` is the gang that its checks will wait for; none
    without such a check.
    """

    pod: Manifest
    patch: list[Manifest] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    gang: GangReference | None = None

    @property
    def injected(self) -> Manifest:
        """The patched pod. It shares its unchanged parts with the original."""
        result = self.pod
        for operation in self.patch:
            result = patch_add(result, pointer(operation["path"]), operation["value"])
        return result


def read_values(document: Document | None) -> tuple[Preflight, list[Diagnostic]]:
    """Returns the Helm values of a document with all defaults, and their findings; only the defaults without a document.

    The values may be nested under `preflight-injector`, as in the values of an umbrella chart.
    """
    value: Any = document.value if document is not None else {}
    path_prefix: tuple[str, ...] = ()
    if isinstance(value, dict) and BLOCK in value:
        value, path_prefix = value[BLOCK], (BLOCK,)
    placed_findings, valid = check_and_prune({} if value is None else value, VALUES_SCHEMA, DEFINITIONS, path_prefix)
    preflight = Preflight(apply_defaults(valid if isinstance(valid, dict) else {}, VALUES_SCHEMA, DEFINITIONS))
    if document is not None:  # the defaults have a meaning
        found = [((*path_prefix, *one.path), one.diagnostic(path_prefix)) for one in contradictions(preflight)]
        placed_findings = [*placed_findings, *found]
        for path, finding in placed_findings:
            finding.file = document.file
            finding.line, finding.column = document.place(path)
    return preflight, [finding for _, finding in placed_findings]


def inject(pod: Manifest, view: ObjectReader | None, preflight: Preflight, program: Program, namespace: str = "default") -> Injection:
    """Runs the rules for a pod at its creation. Changes nothing in place and raises nothing.

    `namespace` applies to a pod without one. `view` answers what exists; the values define how kinds that it has not synced are treated.
    """
    own_namespace = (pod.get("metadata") or {}).get("namespace")
    checked = CheckedPod(pod, own_namespace or namespace, preflight, Snapshot(view=view), DecisionRules(program.decisions))
    settings = Settings(namespace=namespace)
    scope = {"pod": checked, "preflight": preflight, "settings": settings, "config": Configuration({})}
    try:
        findings = program.validate(scope, "create", SUBJECT)
        nodes = [] if has_errors(findings) else program.generate(scope, settings.max_objects, SUBJECT)
    except RuleFailure as failure:
        return Injection(pod, findings=[failure.diagnostic])
    patch = [operation for node in nodes for operation in _operations(pod, node.object, preflight.placement == "prepend")]
    return Injection(pod, patch, findings, checked.gang if patch and checked.has_gang_check else None)


def inject_compiled(
    nodes: Sequence[Node], existing: Sequence[Manifest], preflight: Preflight, program: Program
) -> tuple[list[Node], list[Diagnostic]]:
    """Returns compiled objects with the checks injected into their pods, and the findings, as admission would once the others exist."""
    view = ObjectList([*existing, *(node.object for node in nodes if node.object["kind"] != "Pod")])
    injections = {node.id: inject(node.object, view, preflight, program) for node in nodes if node.object["kind"] == "Pod"}
    changed = [node._replace(object=injections[node.id].injected) if node.id in injections else node for node in nodes]
    findings: dict[tuple[str, str, str], Diagnostic] = {}
    for injection in injections.values():
        for finding in injection.findings:
            findings.setdefault((finding.code, finding.path, finding.message), finding)  # pods of a clique have the same findings
    return changed, list(findings.values())


def _operations(pod: Manifest, injection: Manifest, prepend: bool) -> list[Manifest]:
    """Returns the JSON Patch operations that append, or prepend, the entries of an injection's lists to those of the pod."""
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
    return operations + metadata_operations(pod, "labels", injection["metadata"].get("labels") or {})
