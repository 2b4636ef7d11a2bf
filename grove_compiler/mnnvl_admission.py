"""Judges PodCliques and PodGangs that another controller writes, by the rules of `rules/mnnvl-admission.yaml` (the annotation design).

Pure, as a step is: who asks reads what exists beforehand, and writes what comes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

from grove_compiler.engine.runtime.failure import RuleFailure
from grove_compiler.graph.diagnostic import Diagnostic, has_errors
from grove_compiler.graph.node import Manifest
from grove_compiler.model.admitted.podclique import AdmittedPodClique
from grove_compiler.model.admitted.podgang import AdmittedPodGang
from grove_compiler.model.decisions import DecisionRules
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import Objects, Snapshot
from grove_compiler.record import record
from grove_compiler.step import Context

CLIQUE_SUBJECT, GANG_SUBJECT = "AdmittedPodClique", "AdmittedPodGang"


@record
class CliqueAdmission:
    """What comes of a PodClique: JSON Patch operations (RFC 6902), the `objects` that have to be there for its pods, and what is wrong.

    With an error among `findings` it is to be refused; the others are empty then.
    """

    patch: list[Manifest] = field(default_factory=list)
    objects: list[Manifest] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)


@record
class GangAdmission:
    """What comes of a PodGang: JSON Patch operations on one that is asked for, and merge patches (RFC 7386) of objects that are there.

    `problem` is why nothing comes of it: a rule failed.
    """

    patch: list[Manifest] = field(default_factory=list)
    merged: list[Manifest] = field(default_factory=list)
    problem: Diagnostic | None = None


def admit_podclique(manifest: Manifest, old: Manifest, view: Objects | None, context: Context, settings: Settings) -> CliqueAdmission:
    """Returns what the rules make of a PodClique; `old` is what it was, empty for a new one. Nothing is raised for bad input.

    Of what exists, `view` has to know its set, its domain and its claim.
    """
    snapshot, decisions = Snapshot(view=view), DecisionRules(context.program.decisions)
    new, before = (one and AdmittedPodClique(one, settings.namespace, settings, snapshot, decisions) for one in (manifest, old))
    scope = {**context.scope, "settings": settings, "config": context.config, "podclique": new, "old": before or None}
    try:
        findings = context.program.validate(scope, "update" if old else "create", CLIQUE_SUBJECT)
        if has_errors(findings):
            return CliqueAdmission(findings=findings)
        nodes = context.program.generate(scope, settings.max_objects, (), CLIQUE_SUBJECT)
    except RuleFailure as failure:
        return CliqueAdmission(findings=[failure.diagnostic])
    told = [node.object for node in nodes]
    operations = [operation for one in told for operation in _clique_operations(manifest, one)]
    return CliqueAdmission(operations, [object for one in told for object in one.get("objects") or ()], findings)


def admit_podgang(manifest: Manifest, view: Objects, context: Context, settings: Settings) -> GangAdmission:
    """Returns what the rules make of a PodGang. One that is there has a UID, and so may own something; one that is asked for has none."""
    gang = AdmittedPodGang(manifest, settings.namespace, Snapshot(view=view), DecisionRules(context.program.decisions))
    scope = {**context.scope, "settings": settings, "config": context.config, "podgang": gang}
    try:
        told = [node.object for node in context.program.generate(scope, settings.max_objects, (), GANG_SUBJECT)]
    except RuleFailure as failure:
        return GangAdmission(problem=failure.diagnostic)
    operations = [operation for one in told for operation in _annotated(manifest, one.get("annotations") or {})]
    return GangAdmission(operations, [object for one in told for object in one.get("merged") or ()])


def _clique_operations(manifest: Manifest, admission: Manifest) -> Iterator[Manifest]:
    yield from _annotated(manifest, admission.get("annotations") or {})
    spec = (manifest.get("spec") or {}).get("podSpec") or {}
    for claim in admission.get("resourceClaims") or ():
        yield _append("/spec/podSpec/resourceClaims", spec.get("resourceClaims"), claim)
    for pointer in admission.get("users") or ():
        _, kind, index = pointer.split("/")
        resources = spec[kind][int(index)]["resources"]  # it asks for GPUs there
        yield _append(f"/spec/podSpec{pointer}/resources/claims", resources.get("claims"), {"name": "mnnvl"})


def _append(path: str, present: Any, item: Manifest) -> Manifest:
    return {"op": "add", "path": f"{path}/-", "value": item} if present else {"op": "add", "path": path, "value": [item]}


def _annotated(manifest: Manifest, annotations: dict[str, str]) -> Iterator[Manifest]:
    present = (manifest.get("metadata") or {}).get("annotations")
    new = {key: value for key, value in annotations.items() if (present or {}).get(key) != value}
    if new and not present:
        yield {"op": "add", "path": "/metadata/annotations", "value": new}
        return
    for key, value in new.items():
        yield {"op": "add", "path": f"/metadata/annotations/{key.replace('~', '~0').replace('/', '~1')}", "value": value}
