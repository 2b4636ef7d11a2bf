"""Mutates and validates PodCliques and PodGangs of another controller, by `rules/mnnvl-admission.yaml` (the annotation design).

Pure, like a step: the caller reads the cluster before and writes the results after.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.metadata_patch import metadata_operations
from grove_compiler.model.admitted.podclique import AdmittedPodClique
from grove_compiler.model.admitted.podgang import AdmittedPodGang
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectReader, Snapshot
from grove_compiler.record import record
from grove_compiler.step_context import StepContext

CLIQUE_SUBJECT, GANG_SUBJECT = "AdmittedPodClique", "AdmittedPodGang"


@record
class CliqueAdmission:
    """The result of admission for a PodClique: JSON Patch operations (RFC 6902), the `objects` that its pods need, and the findings.

    With an error among `findings` it is to be rejected; the other fields are empty then.
    """

    patch: list[Manifest] = field(default_factory=list)
    objects: list[Manifest] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)


@record
class GangAdmission:
    """The result of admission for a PodGang: JSON Patch operations on it, and merge patches (RFC 7386) of existing objects.

    `problem` is the failure of a rule; the patches are empty then.
    """

    patch: list[Manifest] = field(default_factory=list)
    merged: list[Manifest] = field(default_factory=list)
    problem: Diagnostic | None = None


def admit_podclique(
    manifest: Manifest, old: Manifest, view: ObjectReader | None, context: StepContext, settings: Settings, *, is_kept: bool = False
) -> CliqueAdmission:
    """Runs the rules for a PodClique; `old` is its previous state, empty for a new one. Invalid input raises nothing.

    `view` has to answer for its set, its domain and its claim. What it was before `is_kept` where an update has taken it away; otherwise
    such an update is an error. A claim that it had is kept whatever has become of the domain.
    """
    snapshot, decisions = Snapshot(view=view), DecisionRules(context.program.decisions)
    common = settings.namespace, settings, snapshot, decisions
    new, before = AdmittedPodClique(manifest, *common), AdmittedPodClique(old, *common) if old else None
    is_creation = before is None
    if is_kept and before is not None:
        new.former, is_creation = before, not before.claims
    scope = {**context.scope, "settings": settings, "config": context.config, "podclique": new, "old": before}
    try:
        findings = context.program.validate(scope, "create" if is_creation else "update", CLIQUE_SUBJECT)
        if has_errors(findings):
            return CliqueAdmission(findings=findings)
        nodes = context.program.generate(scope, settings.max_objects, CLIQUE_SUBJECT)
    except RuleFailure as failure:
        return CliqueAdmission(findings=[failure.diagnostic])
    admissions = [node.object for node in nodes]
    operations = [operation for admission in admissions for operation in _clique_operations(manifest, admission)]
    return CliqueAdmission(operations, [manifest for admission in admissions for manifest in admission.get("objects") or ()], findings)


def admit_podgang(manifest: Manifest, view: ObjectReader, context: StepContext, settings: Settings) -> GangAdmission:
    """Runs the rules for a PodGang. A live one has a UID, and so may own objects; one at its creation has none."""
    gang = AdmittedPodGang(manifest, settings.namespace, Snapshot(view=view), DecisionRules(context.program.decisions))
    scope = {**context.scope, "settings": settings, "config": context.config, "podgang": gang}
    try:
        admissions = [node.object for node in context.program.generate(scope, settings.max_objects, GANG_SUBJECT)]
    except RuleFailure as failure:
        return GangAdmission(problem=failure.diagnostic)
    annotations = {key: value for admission in admissions for key, value in (admission.get("annotations") or {}).items()}
    operations = metadata_operations(manifest, "annotations", annotations)
    return GangAdmission(operations, [manifest for admission in admissions for manifest in admission.get("merged") or ()])


def _clique_operations(manifest: Manifest, admission: Manifest) -> Iterator[Manifest]:
    yield from metadata_operations(manifest, "annotations", admission.get("annotations") or {})
    spec = (manifest.get("spec") or {}).get("podSpec") or {}
    for claim in admission.get("resourceClaims") or ():
        yield _append("/spec/podSpec/resourceClaims", spec.get("resourceClaims"), claim)
    for pointer in admission.get("users") or ():
        _, kind, index = pointer.split("/")
        resources = spec[kind][int(index)]["resources"]  # present, since it requests GPUs
        yield _append(f"/spec/podSpec{pointer}/resources/claims", resources.get("claims"), {"name": "mnnvl"})


def _append(path: str, present: Any, item: Manifest) -> Manifest:
    return {"op": "add", "path": f"{path}/-", "value": item} if present else {"op": "add", "path": path, "value": [item]}
