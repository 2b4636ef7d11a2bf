"""Converts the decision of a step to a value that can be stored and compared."""

from __future__ import annotations

import json
from typing import Any

from grove_compiler.graph.node import Manifest, Node
from grove_compiler.replay.plain import plain, shown
from grove_compiler.step import Gone, Hold, Step


def decision_value(outcome: Step | Gone | Hold) -> Manifest:
    """Returns everything that a step decided, without empty fields."""
    match outcome:
        case Gone():
            return {"outcome": "gone", "reason": outcome.reason}
        case Hold():
            return _filled({"outcome": "hold", "reason": outcome.reason, "findings": plain(outcome.findings)})
        case Step():
            value: dict[str, Any] = {
                "outcome": "graph",
                "objects": [_object(one) for one in outcome.graph.nodes],
                "statuses": plain(outcome.statuses),
                "conditions": plain(outcome.conditions),
                "events": plain(outcome.events),
                "deletions": plain(outcome.deletions),
                "lookAgain": outcome.look_again,
                "findings": plain(outcome.findings),
                "generationHash": outcome.generation_hash,
                "replicas": outcome.replicas,
            }
            return _filled(value)


def to_the_letter(value: Any) -> str:
    """Returns a value as text for an exact comparison: the order of keys counts, and `1` differs from `1.0`."""
    return json.dumps(value, separators=(",", ":"))


def _object(node: Node) -> Manifest:
    origin = {"rule": node.rule, "loop": plain(node.loop), "owner": plain(node.owner), "policy": plain(node.policy)}
    return {**_filled(origin), "object": shown(node.object)}


def _filled(value: dict[str, Any]) -> Manifest:
    return {key: one for key, one in value.items() if one is not None and one != [] and one != {} and one != ""}
