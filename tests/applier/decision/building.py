"""Small objects for the tests of this folder."""

from __future__ import annotations

from typing import Any

from applier.decision import Decision, decide, merged
from applier.ref import Manifest

from .schemas import type_of

NOW = "2026-01-01T00:00:00Z"


def config(data: Any = None, **metadata: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}, **({} if data is None else {"data": data})}


def deployment(spec: Any = None, **pod: Any) -> Manifest:
    container = {"name": "main", "image": "busybox:1", **pod}
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [container]}}
    selector = {"matchLabels": {"app": "a"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {"selector": selector, "template": template, **(spec or {})},
    }


def gadget(**spec: Any) -> Manifest:
    return {"apiVersion": "decision.example/v1", "kind": "Gadget", "metadata": {"name": "a"}, "spec": spec}


def applied(manifest: Manifest, live: Manifest | None = None, *, by: str = "us", force: bool = False) -> Manifest:
    """The live object after an apply."""
    return merged(manifest, live, type_of(manifest["apiVersion"], manifest["kind"]), manager=by, now=NOW, force=force)


def updated(live: Manifest, fields: Any, *, by: str = "editor", subresource: str = "", **changed: Any) -> Manifest:
    """The live object after an update of top-level members by a manager that owns `fields` from then on."""
    entry = {
        "manager": by,
        "operation": "Update",
        "apiVersion": live["apiVersion"],
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        "time": NOW,
    }
    if subresource:
        entry["subresource"] = subresource
    metadata = {**live["metadata"], "managedFields": [*live["metadata"].get("managedFields", []), entry]}
    return {**live, **changed, "metadata": metadata}


def decided(manifest: Manifest, live: Manifest | None, *, by: str = "us", **how: Any) -> Decision:
    return decide(manifest, live, type_of(manifest["apiVersion"], manifest["kind"]), manager=by, **how)


def owned(live: Manifest, manager: str = "us") -> Any:
    """What a manager owns by applying; None for nothing."""
    entries = live["metadata"].get("managedFields", [])
    return next((entry["fieldsV1"] for entry in entries if entry["manager"] == manager and entry["operation"] == "Apply"), None)
