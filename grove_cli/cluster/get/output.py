"""Encodes the output of `grove get`: trees of objects, as text with one line for each object and its status, or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from grove_cli.cluster.get.watch import Drawing
from grove_cli.output import encoded, json_report
from grove_cli.queries.facts import gates_of
from grove_cli.queries.live_states import LiveStates, ReadinessCheck
from grove_cli.queries.tree import Branch, branches
from grove_cli.queries.tree_query import Forest
from grove_cli.terminal import Terminal, terminal_of, visible
from grove_cli.tree_rows import TreeRow, tree_lines


def tree_bytes(forest: Forest, output: str, check: ReadinessCheck) -> bytes:
    """Returns the tree as text, or as JSON if `output` is `json`, in UTF-8."""
    if output == "json":
        return json_report(_value(forest.top, LiveStates(check, (branch.manifest for branch, _ in branches(forest.top)))))
    return encoded(tree_text(forest.top, check, terminal_of(sys.stdout), forest.unread))


def drawn_tree(forest: Forest, output: str, check: ReadinessCheck) -> Drawing:
    """Returns the tree with the resources of its objects."""
    kinds = {branch.ref[:2] for branch, _ in branches(forest.top)}
    present = [resource for resource in forest.kinds if (resource.kind.group, resource.kind.kind) in kinds]
    return Drawing(tree_bytes(forest, output, check), present)


COLOURS = {"Ready": "32", "InProgress": "33", "Failed": "31", "Terminating": "35", "Unknown": "2"}
WORDS = {"Ready": "ready", "InProgress": "in progress", "Failed": "failed", "Terminating": "terminating", "Unknown": "unknown"}


def tree_text(top: Branch, check: ReadinessCheck, terminal: Terminal, unread: Sequence[str] = ()) -> str:
    """Returns the tree, the number of ready objects, and the kinds that could not be read."""
    drawn = list(branches(top))
    states = LiveStates(check, (branch.manifest for branch, _ in drawn))
    rows = [_row(branch, lead, states) for branch, lead in drawn]
    ready = sum(row.state == WORDS["Ready"] for row in rows)
    lines = tree_lines(rows, terminal, terminal.width // 2)
    lines += ["", terminal.paint(f"{ready} of {len(rows)} ready", "1")]
    lines += [terminal.paint(f"not read: {visible(why)}", "33") for why in unread]
    return "\n".join(lines) + "\n"


def _value(branch: Branch, states: LiveStates) -> dict[str, Any]:
    readiness = states.readiness(branch.manifest)
    ref = branch.ref
    value = {
        "group": ref.group,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
        "state": str(readiness.state),
        "reason": readiness.reason,
        "facts": states.facts(branch.manifest),
        "gates": gates_of(branch.manifest),
        "owns": [_value(child, states) for child in branch.children],
    }
    return {key: part for key, part in value.items() if part not in ("", [])}


def _row(branch: Branch, lead: str, states: LiveStates) -> TreeRow:
    readiness = states.readiness(branch.manifest)
    state, reason = str(readiness.state), readiness.reason
    details = states.facts(branch.manifest)
    reasons = [] if state == "Ready" or not reason or _is_redundant(reason, details) else [reason]
    text = visible("; ".join([*details, *reasons]))
    return TreeRow(lead, branch.ref.kind, visible(branch.ref.name), text, WORDS.get(state, state), COLOURS.get(state, "0"))


def _is_redundant(reason: str, details: Sequence[str]) -> bool:
    """Returns whether a reason is part of the facts, which have the counts and phases of the status."""
    return bool(details) and (reason.startswith("status.") or any(reason in fact for fact in details))
