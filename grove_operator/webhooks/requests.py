"""Validates changes of replicas, and requests to objects that the operator manages."""

from __future__ import annotations

from typing import Any

from applier.decision.managers import applied_by
from grove_compiler.decoder import SET_KIND
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Manifest
from grove_compiler.labels import OPERATOR, PART_OF
from grove_compiler.model.inputs.managed_edit import ManagedEdit, ScaleRequest
from grove_compiler.model.inputs.snapshot import ObjectReader, controller_of
from grove_compiler.scale import Scaling, judge_scaling
from grove_compiler.step import StepContext
from grove_operator.webhooks.review import AdmissionRequest, NoReview
from kube_objects.manifest import group_of, is_terminating, labels_of

GROUP = "grove.io"
SCALED = {"podcliquesets": SET_KIND, "podcliques": "PodClique", "podcliquescalinggroups": "PodCliqueScalingGroup"}
SCALE = "Scale"
MAX_CHAIN = 3
"""Owners between an object and its set, which included: a pod is of a PodClique, and that may be a scaling group's."""
UNPROTECTED = "grove.io/disable-managed-resource-protection"


def scaling_findings(request: AdmissionRequest, context: StepContext, view: ObjectReader) -> list[Diagnostic]:
    """Validates a change of replicas. Requests to objects that do not exist are allowed. Raises `NoReview`.

    An edit of the object itself is a change of replicas like one through its scale subresource, if it changes them.
    """
    kind, replicas = SCALED.get(request.resource), _replicas(request.object)
    if kind is None or replicas is None:
        raise NoReview("the request is not for a scale subresource of a Grove kind")
    before, is_edit = _replicas(request.old) or 0, request.object["kind"] != SCALE
    if is_edit and replicas == before:
        return []
    live = request.old if is_edit else view.get(GROUP, kind, request.namespace, request.name)
    owner = live if kind == SET_KIND else _owning_set(live, request.namespace, view)
    if live is None or owner is None:
        return []
    findings = judge_scaling(Scaling(kind, request.name, replicas), owner, context.program, context.config)
    if findings:
        return findings
    minimum = 0 if kind == SET_KIND else (live.get("spec") or {}).get("minAvailable") or 0
    scale = ScaleRequest(kind, request.name, replicas, before, minimum)
    return context.program.validate(_scope(context, scale=scale), "update", SCALE)


def protection_findings(request: AdmissionRequest, context: StepContext, view: ObjectReader, operator: str) -> list[Diagnostic]:
    """Validates a request to an object with the operator's label (shipped semantics §6.4)."""
    if request.operation not in ("CREATE", "UPDATE", "DELETE"):
        return []
    manifest = request.object if request.operation == "CREATE" else request.old
    pcs = _set_of(manifest, request.namespace, view)
    if request.operation != "CREATE" and pcs is not None and not _is_of_set(manifest, pcs, request.namespace, view):
        pcs = None
    annotations = ((pcs or {}).get("metadata") or {}).get("annotations") or {}
    edit = ManagedEdit(
        operation=request.operation,
        kind=str(manifest.get("kind") or ""),
        name=request.name,
        user=request.user,
        operator=operator,
        exempt=(context.config.manifest.get("authorizer") or {}).get("exemptServiceAccountUserNames") or [],
        set_name=_set_name(manifest),
        has_set=pcs is not None,
        is_unprotected=pcs is not None and (is_terminating(pcs) or annotations.get(UNPROTECTED) == "true"),
    )
    return context.program.validate(_scope(context, edit=edit), "create" if request.operation == "CREATE" else "update", "ManagedObject")


def _scope(context: StepContext, **roots: Any) -> dict[str, Any]:
    return {**context.scope, "config": context.config, "old": None, **roots}


def _owning_set(manifest: Manifest | None, namespace: str, view: ObjectReader) -> Manifest | None:
    """Returns the set to which controlling owners lead: a label may be edited before the replicas are (decisions §8)."""
    for _ in range(MAX_CHAIN):
        owner = controller_of(manifest or {}) or {}
        kind = owner.get("kind")
        if group_of(str(owner.get("apiVersion") or "")) != GROUP or kind not in SCALED.values():
            return None
        manifest = view.get(GROUP, str(kind), namespace, str(owner.get("name") or ""))
        if manifest is None or manifest["metadata"].get("uid") != owner.get("uid"):
            return None
        if kind == SET_KIND:
            return manifest
    return None


def _is_of_set(manifest: Manifest, pcs: Manifest, namespace: str, view: ObjectReader) -> bool:
    """Reports whether an object is a set's, and not of somebody else who has labelled it so: they may edit it (decisions §8)."""
    if controller_of(manifest) is None:
        return applied_by(manifest, OPERATOR)
    owner = _owning_set(manifest, namespace, view)
    return owner is not None and owner["metadata"].get("uid") == pcs["metadata"].get("uid")


def _set_of(manifest: Manifest | None, namespace: str, view: ObjectReader) -> Manifest | None:
    name = _set_name(manifest)
    return view.get(GROUP, SET_KIND, namespace, name) if name else None


def _set_name(manifest: Manifest | None) -> str:
    return str(labels_of(manifest or {}).get(PART_OF) or "")


def _replicas(manifest: Manifest) -> int | None:
    """Returns the replicas of a Scale, or of an object that has one. Both omit 0."""
    if manifest.get("kind") not in (SCALE, *SCALED.values()) or not isinstance(manifest.get("spec") or {}, dict):
        return None
    replicas = (manifest.get("spec") or {}).get("replicas", 0)
    return replicas if isinstance(replicas, int) and not isinstance(replicas, bool) else None
