"""JSON text out, as `kubectl get -o json` prints it: one object alone, several as a `List`, indented by four spaces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from sys import getrefcount
from typing import Any

from grove_compiler.source.plain_values import as_plain, constant
from grove_compiler.source.sharing import UNSHARED_ENTRY, UNSHARED_ITEM, Memo

DEEPEST_INDENT = 1000
"""Two and a half times what the readers let in; one level of indentation is four spaces."""

_HALF_CHARACTER = "[\ud800-\udfff]"
_REMEMBERED = 128  # texts longer than this are seldom repeated


def write_json(objects: Iterable[Any]) -> str:
    """The objects as JSON text that ends with a line break: the only one alone, otherwise a `v1` `List` of them.

    Keys keep their order. Takes and refuses what `write_yaml` does. Half of a surrogate pair becomes U+FFFD, as in Go.
    """
    items = list(objects)
    value = items[0] if len(items) == 1 else {"apiVersion": "v1", "items": items, "kind": "List"}
    return _Writer().value(value) + "\n"


class _Strings(dict[str, str]):
    """Each text in its quotes."""

    def __init__(self) -> None:
        # Only a run with JSON output needs it.
        from json.encoder import encode_basestring

        self.encode: Callable[[str], str] = encode_basestring

    def __missing__(self, text: str) -> str:
        if not isinstance(text, str):
            raise TypeError(f"a key must be text, not {type(text).__name__}: {text!r}")
        written = self.encode(text)
        if not written.isascii():
            written = re.sub(_HALF_CHARACTER, "\N{REPLACEMENT CHARACTER}", written)
        if len(text) <= _REMEMBERED:
            self[text] = written
        return written


class _Writer:
    """Renders containers to text whose first line has no indentation, for the parent knows what stands before it."""

    def __init__(self) -> None:
        self.strings = _Strings()
        self.memo = Memo()

    def value(self, value: Any) -> str:
        """The text of one value."""
        return self._list([value], -4)[2:-2]

    def _mapping(self, node: dict[str, Any], indent: int) -> str:
        if indent > DEEPEST_INDENT:
            raise ValueError("nested too deep to be written, or containing itself")
        strings, texts = self.strings, self.memo.texts
        inner, parts = indent + 4, []
        for key, value in node.items():
            kind = value.__class__
            if kind is str:
                text = strings[value]
            elif (kind is dict or kind is list) and value:
                if getrefcount(value) > UNSHARED_ENTRY:
                    text = texts.get((id(value), inner)) or self._remember(value, inner)
                else:
                    text = self._container(value, inner)
            elif kind is int:
                text = str(value)
            else:
                text = constant(value) or self._rare(value, inner)
            parts.append(f"{strings[key]}: {text}")
        pad = f"\n{' ' * inner}"
        return f"{{{pad}{f',{pad}'.join(parts)}\n{' ' * indent}}}"

    def _list(self, node: list[Any], indent: int) -> str:
        if indent > DEEPEST_INDENT:
            raise ValueError("nested too deep to be written, or containing itself")
        strings, texts = self.strings, self.memo.texts
        inner, parts = indent + 4, []
        for value in node:
            kind = value.__class__
            if kind is str:
                text = strings[value]
            elif (kind is dict or kind is list) and value:
                if getrefcount(value) > UNSHARED_ITEM:
                    text = texts.get((id(value), inner)) or self._remember(value, inner)
                else:
                    text = self._container(value, inner)
            elif kind is int:
                text = str(value)
            else:
                text = constant(value) or self._rare(value, inner)
            parts.append(text)
        pad = f"\n{' ' * inner}"
        return f"[{pad}{f',{pad}'.join(parts)}\n{' ' * indent}]"

    def _container(self, node: Any, indent: int) -> str:
        return self._mapping(node, indent) if node.__class__ is dict else self._list(node, indent)

    def _remember(self, node: Any, indent: int) -> str:
        return self.memo.remember(node, indent, self._container(node, indent))

    def _rare(self, value: Any, indent: int) -> str:
        plain = as_plain(value)
        if isinstance(plain, str):
            return self.strings[plain]
        if isinstance(plain, int):
            return str(plain)
        return constant(plain) or self._container(plain, indent)
