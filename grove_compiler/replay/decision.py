"""Converts the decision of a step to a value that can be stored and compared."""

from __future__ import annotations

import json
from typing import Any

from grove_compiler.graph.node import Manifest, Node
from grove_compiler.replay.plain import plain, redacted
from grove_compiler.step import StepGone, StepHold, StepResult


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
