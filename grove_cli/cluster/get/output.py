"""Encodes the output of `grove get`, as text or JSON."""

from __future__ import annotations

import sys

from grove_cli.cluster.get.as_text import tree_text, tree_value
from grove_cli.cluster.get.watch import Drawing
from grove_cli.output import encoded, json_report
from grove_cli.queries.readiness import ReadinessCheck
from grove_cli.queries.tree import branches
from grove_cli.queries.tree_query import Forest
from grove_cli.terminal import terminal_of


def tree_bytes(forest: Forest, output: str, check: ReadinessCheck) -> bytes:
    """Returns the tree as text, or as JSON if `output` is `json`, in UTF-8."""
    if output == "json":
        return json_report(tree_value(forest.top, check))
    return encoded(tree_text(forest.top, check, terminal_of(sys.stdout), forest.unread))


def drawn_tree(forest: Forest, output: str, check: ReadinessCheck) -> Drawing:
    """Returns the tree with the resources of its objects."""
    kinds = {branch.ref[:2] for branch, _ in branches(forest.top)}
    present = [resource for resource in forest.kinds if (resource.kind.group, resource.kind.kind) in kinds]
    return Drawing(tree_bytes(forest, output, check), present)
