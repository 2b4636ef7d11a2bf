"""Writes JSON as `kubectl get -o json` prints it: one object alone, several as a `List`, indented by four spaces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from grove_compiler.source.walker import Texts, Walker

_HALF_CHARACTER = "[\ud800-\udfff]"


def write_json(objects: Iterable[Any]) -> str:
    """Returns the objects as JSON text that ends with a line break: a single object alone, several as a `v1` `List`.

    Keys keep their order. Accepts and rejects the same values as `write_yaml`. Half of a surrogate pair becomes U+FFFD, as in Go.
    """
    items = list(objects)
    value = items[0] if len(items) == 1 else {"apiVersion": "v1", "items": items, "kind": "List"}
    return _Writer().value(value) + "\n"


class _Strings(Texts):
    def __init__(self) -> None:
        super().__init__()
        # Only a run with JSON output needs it.
        from json.encoder import encode_basestring

        self._quote: Callable[[str], str] = encode_basestring

    def encode(self, text: str) -> str:
        written = self._quote(text)
        return written if written.isascii() else re.sub(_HALF_CHARACTER, "\N{REPLACEMENT CHARACTER}", written)


class _Keys(Texts):
    def __init__(self, strings: _Strings) -> None:
        super().__init__()
        self._strings = strings

    def encode(self, text: str) -> str:
        return self._strings[text] + ":"


class _Writer(Walker):
    step, list_step = 4, 4
    deepest = 1000
    """Two and a half times what the readers accept."""

    def __init__(self) -> None:
        strings = _Strings()
        super().__init__(_Keys(strings), strings, [" "] * (self.deepest + self.step + 1))

    def value(self, value: Any) -> str:
        """Returns the text of one value."""
        return self.sequence([value], -4)[2:-2]

    def join_mapping(self, parts: Sequence[str], indent: int) -> str:
        pad = "\n" + " " * (indent + self.step)
        return f"{{{pad}{f',{pad}'.join(parts)}\n{' ' * indent}}}"

    def join_list(self, parts: Sequence[str], indent: int) -> str:
        pad = "\n" + " " * (indent + self.step)
        return f"[{pad}{f',{pad}'.join(parts)}\n{' ' * indent}]"
