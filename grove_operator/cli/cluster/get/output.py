"""A tree as it is written, for people or for programs."""

from __future__ import annotations

import sys

from grove_operator.cli.cluster.get.as_text import tree_text, tree_value
from grove_operator.cli.output import encoded, json_report
from grove_operator.cluster.readiness import Judge
from grove_operator.cluster.tree_query import Forest
from grove_operator.terminal import terminal_of


def tree_bytes(forest: Forest, output: str, judge: Judge) -> bytes:
    """The tree as text for standard output, or as JSON where `output` is `json`; in UTF-8."""
    if output == "json":
        return json_report(tree_value(forest.top, judge))
    return encoded(tree_text(forest.top, judge, terminal_of(sys.stdout), forest.unread))
