"""Writes YAML: block style, keys in the given order, the same bytes for the same objects everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from grove_compiler.source.quoting import is_literal, literal, on_one_line
from grove_compiler.source.walker import LongKey, Texts, Walker

_MAX_SIMPLE_KEY = 1000
"""The longest key that is written without `? `; YAML limits such keys to 1024 characters."""


def write_yaml(objects: Iterable[Any]) -> str:
    """Returns the objects as documents, with `---` between them.

    Takes what JSON can hold (dicts, lists, tuples, str, int, float, bool, None, and subclasses of these). Raises `TypeError` for
    anything else and for keys that are not text, `ValueError` for infinities, NaN and values that contain themselves.
    """
    return "".join(iter_yaml(objects))


def iter_yaml(objects: Iterable[Any]) -> Iterator[str]:
    """Yields the text of `write_yaml`, one document at a time. Parts that objects share must not be changed in between."""
    writer = _Writer()
    separator = ""
    for value in objects:
        yield f"{separator}{writer.document(value)}\n"
        separator = "---\n"


class _Keys(Texts):
    def encode(self, text: str) -> str:
        written = on_one_line(text) + ":"
        if len(written) > _MAX_SIMPLE_KEY:
            raise LongKey
        return written


class _Strings(Texts):
    def encode(self, text: str) -> str:
        return "" if "\n" in text and is_literal(text) else on_one_line(text)


class _Writer(Walker):
    step, list_step = 2, 0
    deepest = 400
    """Twice what the readers accept; one level of indentation, two spaces, takes at most two levels of recursion."""

    def __init__(self) -> None:
        super().__init__(_Keys(), _Strings(), ["\n" + " " * indent for indent in range(self.deepest + self.step + 1)])

    def document(self, value: Any) -> str:
        """Returns the text of one document, without the line break at its end."""
        if isinstance(value, dict) and value:
            return self.mapping(value, 0)
        if isinstance(value, list | tuple) and value:
            return self.sequence(list(value), 0)
        return self.sequence([value], 0).removeprefix("- ")

    def join_mapping(self, parts: Sequence[str], indent: int) -> str:
        return self.gaps[indent].join(parts)

    def join_list(self, parts: Sequence[str], indent: int) -> str:
        return "- " + (self.gaps[indent] + "- ").join(parts)

    def block(self, text: str, indent: int) -> str:
        return literal(text, indent)

    def with_long_keys(self, node: dict[str, Any], indent: int) -> str:
        gap, parts = self.gaps[indent], []
        for key, value in node.items():
            entry = self.mapping({"k": value}, indent)[1:]  # from the colon on
            written = on_one_line(key)
            parts.append(f"? {written}{gap}{entry}" if len(written) >= _MAX_SIMPLE_KEY else written + entry)
        return gap.join(parts)
