"""JSON values as Python source, laid out as ruff would: what a generated module is written with."""

from __future__ import annotations

import json
from typing import Any

WIDTH = 140
"""Columns of a line."""


def literal(value: Any, indent: int = 0, after: str = "") -> str:
    """The value as a Python literal: on one line where it fits before the text `after`, else one item a line."""
    line = _one_line(value)
    if not isinstance(value, dict | list) or not value or indent + len(line) + len(after) <= WIDTH:
        return line
    pad = " " * (indent + 4)
    if isinstance(value, list):
        items = [f"{pad}{literal(item, indent + 4, ',')},\n" for item in value]
        return "[\n" + "".join(items) + " " * indent + "]"
    items = []
    for name, item in value.items():
        start = f"{pad}{_one_line(name)}: "
        fits = len(start) + len(_one_line(item)) + 1 <= WIDTH
        items.append(f"{start}{_one_line(item) if fits else _broken(item, indent + 4)},\n")
    return "{\n" + "".join(items) + " " * indent + "}"


def _broken(value: Any, indent: int) -> str:
    """The value as a literal that goes over several lines if it can."""
    return literal(value, indent, " " * WIDTH)


def _one_line(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_one_line(name)}: {_one_line(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_one_line, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_one_line, value)) + ")"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
