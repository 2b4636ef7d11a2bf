"""The anchors of one document, and how large each grows where an alias repeats it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grove_compiler.source.findings import Limits


class Anchor:
    """A value that an alias may repeat. `nodes` and `size` are its entries and characters, aliases inside it expanded."""

    __slots__ = ("is_open", "nodes", "size", "value")

    def __init__(self, value: Any, nodes: int, size: int, is_open: bool) -> None:
        self.value = value
        self.nodes = nodes
        self.size = size
        self.is_open = is_open


class Anchors:
    """Anchors by name. `open` has those whose value has not ended, by its id; `expanded` is what aliases add, in characters."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.known: dict[str, Anchor] = {}
        self.open: dict[int, Anchor] = {}
        self.expanded = 0
        self._heights: dict[int, int] = {}

    def scalar(self, event: Any, value: Any) -> None:
        """Notes an anchored scalar."""
        self.known[event.anchor] = Anchor(value, 0, len(event.value), is_open=False)

    def start(self, node: Any, event: Any, nodes: int) -> None:
        """Notes the beginning of an anchored mapping or list; `nodes` is what the file has so far."""
        self.known[event.anchor] = self.open[id(node)] = Anchor(node, -nodes, -event.start_mark.index - self.expanded, is_open=True)

    def end(self, node: Any, event: Any, nodes: int) -> None:
        """Closes the anchor of a mapping or list, if it has one."""
        anchor = self.open.pop(id(node), None)
        if anchor is not None:
            anchor.nodes += nodes
            anchor.size += event.end_mark.index + self.expanded
            anchor.is_open = False

    def height(self, value: Any) -> int:
        """Returns how many containers stand inside one another at most, the value itself included. Linear in its distinct containers."""
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
