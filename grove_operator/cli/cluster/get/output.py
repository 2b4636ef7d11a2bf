"""What `grove get` shows, as it is written: for people or for programs."""

from __future__ import annotations

import sys
import time

from grove_operator.cli.cluster.get.as_text import tree_text, tree_value
from grove_operator.cli.cluster.get.sets_as_text import sets_text, sets_value
from grove_operator.cli.cluster.get.watch import Drawing
from grove_operator.cli.output import encoded, json_report
from grove_operator.cluster.readiness import Judge
from grove_operator.cluster.sets_query import Sets
from grove_operator.cluster.tree import branches
from grove_operator.cluster.tree_query import Forest
from grove_operator.terminal import terminal_of


def tree_bytes(forest: Forest, output: str, judge: Judge) -> bytes:
    """Returns the tree as text for standard output, or as JSON where `output` is `json`; in UTF-8."""
    if output == "json":
        return json_report(tree_value(forest.top, judge))
    return encoded(tree_text(forest.top, judge, terminal_of(sys.stdout), forest.unread))


def drawn_tree(forest: Forest, output: str, judge: Judge) -> Drawing:
    """Returns the tree with the kinds of which it has objects."""
    kinds = {branch.ref[:2] for branch, _ in branches(forest.top)}
    present = [resource for resource in forest.kinds if (resource.kind.group, resource.kind.kind) in kinds]
    return Drawing(tree_bytes(forest, output, judge), present)


def drawn_sets(found: Sets, output: str, *, with_namespaces: bool) -> Drawing:
    """Returns the table of sets, or JSON."""
    if output == "json":
        return Drawing(json_report(sets_value(found.sets)), found.kinds)
    text = sets_text(found.sets, time.time(), terminal_of(sys.stdout), with_namespaces=with_namespaces)
    return Drawing(encoded(text), found.kinds)
