"""JSON values as Python source: what a generated module is written with."""

from __future__ import annotations

import json
from typing import Any

WIDTH = 140
"""Columns of a line."""


def literal(value: Any, indent: int = 0, column: int = 0, after: int = 0) -> str:
    """Returns the value as a Python literal: on one line where it fits, else one item a line.

    It begins in `column` of a line that is indented by `indent`; `after` characters follow it. A map that is the only one in another opens
    and closes on that one's lines.
    """
    line = _one_line(value)
    if not value or not isinstance(value, dict | list) or column + len(line) + after <= WIDTH:
        return line
    return _broken_list(value, indent + 4) if isinstance(value, list) else _broken_map(value, indent, column)


def _broken_list(items: list[Any], indent: int) -> str:
    pad = " " * indent
    return "[\n" + "".join(f"{pad}{literal(item, indent, indent, 1)},\n" for item in items) + pad[4:] + "]"


def _broken_map(value: dict[Any, Any], indent: int, column: int) -> str:
    inner = [name for name, item in value.items() if isinstance(item, dict) and item]
    if len(inner) == 1:
        parts = [f"{_one_line(name)}: {_one_line(item)}" for name, item in value.items()]
        at = list(value).index(inner[0])
        head = "{" + "".join(f"{part}, " for part in parts[:at]) + f"{_one_line(inner[0])}: "
        tail = "".join(f", {part}" for part in parts[at + 1 :]) + "}"
        if max(column + len(head), indent + len(tail)) + len("{,") <= WIDTH:
            return head + _lines(value[inner[0]], indent) + tail
    return _lines(value, indent)


def _lines(value: dict[Any, Any], indent: int) -> str:
    pad = " " * (indent + 4)
    items = []
    for name, item in value.items():
        start = f"{pad}{_one_line(name)}: "
        items.append(f"{start}{literal(item, indent + 4, len(start), 1)},\n")
    return "{\n" + "".join(items) + pad[4:] + "}"


def _one_line(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_one_line(name)}: {_one_line(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_one_line, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_one_line, value)) + ")"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
