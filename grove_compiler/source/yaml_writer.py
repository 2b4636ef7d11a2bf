"""YAML text out: block style, keys in the given order, the same bytes for the same objects everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sys import getrefcount
from typing import Any

from grove_compiler.source.plain_values import as_plain, constant
from grove_compiler.source.quoting import is_literal, literal, on_one_line
from grove_compiler.source.sharing import UNSHARED_ENTRY, UNSHARED_ITEM, Memo

DEEPEST_INDENT = 400
"""Twice what the readers let in; one level of indentation, two spaces, costs at most two levels of recursion."""

_REMEMBERED = 128  # texts longer than this are seldom repeated
_LONGEST_SIMPLE_KEY = 1000  # YAML gives up on a key without `? ` after 1024 characters


def write_yaml(objects: Iterable[Any]) -> str:
    """The objects as documents, with `---` between them.

    Takes what JSON can hold (dicts, lists, tuples, str, int, float, bool, None, and subclasses of these). Raises `TypeError` for
    anything else and for keys that are not text, `ValueError` for infinities, NaN and values that contain themselves.
    """
    return "".join(iter_yaml(objects))


def iter_yaml(objects: Iterable[Any]) -> Iterator[str]:
    """The text of `write_yaml`, one document at a time. Parts that objects share must not be changed in between."""
    writer = _Writer()
    separator = ""
    for value in objects:
        yield f"{separator}{writer.document(value)}\n"
        separator = "---\n"


class _LongKey(Exception):
    """A key that needs `? ` in front."""


class _Keys(dict[str, str]):
    """Each key as it is written, with its colon."""

    def __missing__(self, key: object) -> str:
        if not isinstance(key, str):
            raise TypeError(f"a key must be text, not {type(key).__name__}: {key!r}")
        text = on_one_line(key) + ":"
        if len(text) > _LONGEST_SIMPLE_KEY:
            raise _LongKey
        self[key] = text
        return text


class _Strings(dict[str, str | None]):
    """Each text as it is written on one line; None for those that are written as a literal block."""

    def __missing__(self, text: str) -> str | None:
        if "\n" in text and is_literal(text):
            return None
        written = on_one_line(text)
        if len(text) <= _REMEMBERED:
            self[text] = written
        return written


class _Writer:
    """Renders containers to text whose first line has no indentation, for the parent knows what stands before it."""

    def __init__(self) -> None:
        self.keys = _Keys()
        self.strings = _Strings()
        self.memo = Memo()

    def document(self, value: Any) -> str:
        """The text of one document, without the line break at its end."""
        if isinstance(value, dict) and value:
            return self._mapping(value, 0)
        if isinstance(value, list | tuple) and value:
            return self._list(list(value), 0)
        return self._list([value], 0).removeprefix("- ")

    def _mapping(self, node: dict[str, Any], indent: int) -> str:
        if indent > DEEPEST_INDENT:
            raise ValueError("nested too deep to be written, or containing itself")
        keys, strings, texts = self.keys, self.strings, self.memo.texts
        inner, parts = indent + 2, []
        try:
            for key, value in node.items():
                kind = value.__class__
                if kind is str:
                    text = strings[value]
                    parts.append(f"{keys[key]} {literal(value, inner) if text is None else text}")
                elif kind is dict and value:
                    if getrefcount(value) > UNSHARED_ENTRY:
                        text = texts.get((id(value), inner)) or self._remember(value, inner)
                    else:
                        text = self._mapping(value, inner)
                    parts.append(f"{keys[key]}\n{' ' * inner}{text}")
                elif kind is list and value:
                    if getrefcount(value) > UNSHARED_ENTRY:
                        text = texts.get((id(value), indent)) or self._remember(value, indent)
                    else:
                        text = self._list(value, indent)
                    parts.append(f"{keys[key]}\n{' ' * indent}{text}")
                elif kind is int:
                    parts.append(f"{keys[key]} {value}")
                else:
                    text = constant(value)
                    parts.append(self._mapping({key: as_plain(value)}, indent) if text is None else f"{keys[key]} {text}")
        except _LongKey:
            return self._mapping_with_long_keys(node, indent)
        return f"\n{' ' * indent}".join(parts)

    def _list(self, node: list[Any], indent: int) -> str:
        if indent > DEEPEST_INDENT:
            raise ValueError("nested too deep to be written, or containing itself")
        strings, texts = self.strings, self.memo.texts
        inner, parts = indent + 2, []
        for value in node:
            kind = value.__class__
            if kind is str:
                text = strings[value]
                parts.append(f"- {literal(value, inner) if text is None else text}")
            elif (kind is dict or kind is list) and value:
                if getrefcount(value) > UNSHARED_ITEM:
                    text = texts.get((id(value), inner)) or self._remember(value, inner)
                else:
                    text = self._container(value, inner)
                parts.append(f"- {text}")
            elif kind is int:
                parts.append(f"- {value}")
            else:
                text = constant(value)
                parts.append(self._list([as_plain(value)], indent) if text is None else f"- {text}")
        return f"\n{' ' * indent}".join(parts)

    def _container(self, node: Any, indent: int) -> str:
        return self._mapping(node, indent) if node.__class__ is dict else self._list(node, indent)

    def _remember(self, node: Any, indent: int) -> str:
        return self.memo.remember(node, indent, self._container(node, indent))

    def _mapping_with_long_keys(self, node: dict[str, Any], indent: int) -> str:
        pad, parts = " " * indent, []
        for key, value in node.items():
            entry = self._mapping({"k": value}, indent)[1:]  # from the colon on
            written = on_one_line(key)
            parts.append(f"? {written}\n{pad}{entry}" if len(written) >= _LONGEST_SIMPLE_KEY else written + entry)
        return f"\n{pad}".join(parts)
