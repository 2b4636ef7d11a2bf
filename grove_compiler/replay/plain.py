"""Converts steps and their decisions to JSON values, which can be stored and compared, and redacts objects for bundles."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

from grove_compiler.graph.node import Node
from grove_compiler.step import StepGone, StepHold, StepResult
from kube_objects.manifest import LAST_APPLIED, Manifest, without_managed_fields

HIDDEN = "hidden"


def plain(value: Any) -> Any:
    """Converts records and named tuples to objects, and other values to JSON values."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if hasattr(value, "_fields"):
        return {name: plain(getattr(value, name)) for name in value._fields}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def redacted(manifest: Manifest) -> Manifest:
    """Returns an object without the values of a Secret, which a bundle must not contain, and without managedFields.

    Those of PodCliques and ClusterTopologies stay, of which steps read who has set `replicas` and `levels`.
    """
    if manifest.get("kind") not in ("PodClique", "ClusterTopology"):
        manifest = without_managed_fields(manifest)
    if manifest.get("kind") != "Secret" or manifest.get("apiVersion") != "v1":
        return manifest
    hidden: Manifest = {name: _hidden(manifest[name]) for name in ("data", "stringData") if name in manifest}
    metadata = dict(manifest.get("metadata") or {})
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict) and LAST_APPLIED in annotations:
        metadata["annotations"] = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
    return {**manifest, "metadata": metadata, **hidden}


def _hidden(values: Any) -> Any:
    return dict.fromkeys(values, HIDDEN) if isinstance(values, dict) else HIDDEN


def decision_value(outcome: StepResult | StepGone | StepHold) -> Manifest:
    """Returns everything that a step decided, without empty fields."""
    match outcome:
        case StepGone():
            return {"outcome": "gone", "reason": outcome.reason}
        case StepHold():
            return _without_empty({"outcome": "hold", "reason": outcome.reason, "findings": plain(outcome.findings)})
        case StepResult():
            value: dict[str, Any] = {
                "outcome": "graph",
                "objects": [_object(node) for node in outcome.graph.nodes],
                "statuses": plain(outcome.statuses),
                "conditions": plain(outcome.conditions),
                "events": plain(outcome.events),
                "deletions": plain(outcome.deletions),
                "lookAgain": outcome.requeue_at,
                "findings": plain(outcome.findings),
                "generationHash": outcome.generation_hash,
                "replicas": outcome.replicas,
                "hold": {} if outcome.hold is None else decision_value(outcome.hold),
            }
            return _without_empty(value)


def exact_text(value: Any) -> str:
    """Renders a value for an exact comparison: the order of keys matters, and `1` differs from `1.0`."""
    return json.dumps(value, separators=(",", ":"))


def _object(node: Node) -> Manifest:
    origin = {"rule": node.rule, "loop": plain(node.loop), "owner": plain(node.owner), "policy": plain(node.policy)}
    return {**_without_empty(origin), "object": redacted(node.object)}


def _without_empty(value: dict[str, Any]) -> Manifest:
    return {key: part for key, part in value.items() if part is not None and part != [] and part != {} and part != ""}
