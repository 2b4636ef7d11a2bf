"""Tracks the anchors of one document, and their sizes with aliases expanded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grove_compiler.source.findings import Limits


class Anchor:
    """Represents a value that an alias may repeat. `nodes` and `size` count its entries and characters, with aliases expanded."""

    __slots__ = ("is_open", "nodes", "size", "value")

    def __init__(self, value: Any, nodes: int, size: int, is_open: bool) -> None:
        self.value = value
        self.nodes = nodes
        self.size = size
        self.is_open = is_open


class Anchors:
    """Holds anchors by name. `open` has those whose value is incomplete, by its id; `expanded` is what aliases add, in characters."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.known: dict[str, Anchor] = {}
        self.open: dict[int, Anchor] = {}
        self.expanded = 0
        self._heights: dict[int, int] = {}

    def scalar(self, event: Any, value: Any) -> None:
        """Records an anchored scalar."""
        self.known[event.anchor] = Anchor(value, 0, len(event.value), is_open=False)

    def start(self, node: Any, event: Any, nodes: int) -> None:
        """Records the beginning of an anchored mapping or list; `nodes` is the file's count so far."""
        self.known[event.anchor] = self.open[id(node)] = Anchor(node, -nodes, -event.start_mark.index - self.expanded, is_open=True)

    def end(self, node: Any, event: Any, nodes: int) -> None:
        """Closes the anchor of a mapping or list, if it has one."""
        anchor = self.open.pop(id(node), None)
        if anchor is not None:
            anchor.nodes += nodes
            anchor.size += event.end_mark.index + self.expanded
            anchor.is_open = False

    def height(self, value: Any) -> int:
        """Returns the depth of nested containers, the value itself included. Linear in its distinct containers."""
        if not isinstance(value, dict | list):
            return 0
        heights, waiting = self._heights, [value]
        while waiting:
            node = waiting[-1]
            children = [child for child in _children(node) if isinstance(child, dict | list)]
            missing = [child for child in children if id(child) not in heights]
            if missing:
                waiting.extend(missing)
            else:
                heights[id(node)] = 1 + max((heights[id(child)] for child in children), default=0)
                waiting.pop()
        return heights[id(value)]


def _children(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node
