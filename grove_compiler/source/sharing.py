"""Which containers are worth remembering when many objects share parts."""

from __future__ import annotations

from sys import getrefcount
from typing import Any


def _references_of_an_entry(node: dict[str, Any]) -> int:
    for _, value in node.items():  # noqa: PERF102  # the same loop as the writers', for the same count of references
        return getrefcount(value)
    return 0


def _references_of_an_item(node: list[Any]) -> int:
    for value in node:
        return getrefcount(value)
    return 0


# What `getrefcount` says, inside such a loop, of a container that only its parent holds. It differs between versions of Python.
# A container with more references may be shared; taking one for shared that is not costs memory, never correctness.
UNSHARED_ENTRY = _references_of_an_entry({"": {}})
UNSHARED_ITEM = _references_of_an_item([{}])


class Memo:
    """The text of shared containers by identity and indentation. Holds the containers, so that no identity is used twice."""

    __slots__ = ("_held", "texts")

    def __init__(self) -> None:
        self.texts: dict[tuple[int, int], str] = {}
        self._held: list[Any] = []

    def remember(self, node: Any, indent: int, text: str) -> str:
        """Keeps the text and gives it back."""
        self._held.append(node)
        self.texts[id(node), indent] = text
        return text
