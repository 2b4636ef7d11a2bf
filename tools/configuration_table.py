"""Writes the table of `docs/configuration.md` from the types of the OperatorConfiguration: python -m tools.configuration_table."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from grove_compiler.api.operatorconfiguration import OperatorConfiguration

PAGE = Path(__file__).parent.parent / "docs" / "configuration.md"
TABLE = re.compile(r"\| field \| default \|.*?\n(?=\n)", re.DOTALL)
INT32 = (-(2**31), 2**31 - 1)
HEAD = ("apiVersion", "kind")


def table() -> str:
    """Returns a row for each field: its path, its default, the words that it takes, and what it is for."""
    lines = ["| field | default | values | description |", "|---|---|---|---|"]
    lines += [f"| `{path}` | {default} | {takes} | {text} |" for path, default, takes, text in _rows(OperatorConfiguration, "")]
    return "\n".join(lines) + "\n"


def _rows(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key in HEAD:
            continue
        path, inner, many = f"{prefix}{key}", *_section(field.annotation)
        if inner is not None:
            yield from _rows(inner, f"{path}[]." if many else f"{path}.")
        else:
            yield (
                path,
                _default(field.get_default(call_default_factory=True)),
                _words(field.annotation, field.metadata),
                field.description or "",
            )


def _section(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """The section that a field holds, or the items of a list of them."""
    for one in (annotation, *get_args(annotation)):
        if isinstance(one, type) and issubclass(one, BaseModel):
            return one, False
        if get_origin(one) is list and isinstance(item := get_args(one)[0], type) and issubclass(item, BaseModel):
            return item, True
    return None, False


def _default(value: Any) -> str:
    return "" if value in (None, "") or str(value) == "PydanticUndefined" else f"`{json.dumps(value)}`"


def _words(annotation: Any, metadata: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{one}`" for one in get_args(annotation))
    if get_origin(annotation) in (Union, types.UnionType):
        return _words(next(one for one in get_args(annotation) if one is not type(None)), metadata)
    low, high = _bounds(metadata)
    words = (f"≥ {low}" if low > INT32[0] else "", f"≤ {high}" if high < INT32[1] else "")
    return ", ".join(filter(None, words))


def _bounds(metadata: Any) -> tuple[int, int]:
    """The narrowest, of whole numbers."""
    low, high = INT32
    for one in metadata:
        low = max(low, getattr(one, "ge", low), getattr(one, "gt", low - 1) + 1)
        high = min(high, getattr(one, "le", high))
    return low, high


def main() -> None:
    """Puts the table into the page."""
    page = PAGE.read_text("utf-8")
    PAGE.write_text(TABLE.sub(lambda _: table(), page), "utf-8")


if __name__ == "__main__":
    main()
