"""Generates the table of `docs/configuration.md` from the types of the OperatorConfiguration: python -m tools.configuration_table."""

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
    """Returns the table in Markdown: the path, default, valid values and description of each field."""
    lines = ["| field | default | values | description |", "|---|---|---|---|"]
    lines += [f"| `{path}` | {default} | {values} | {text} |" for path, default, values, text in _rows(OperatorConfiguration, "")]
    return "\n".join(lines) + "\n"


def _rows(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key in HEAD:
            continue
        path, inner, is_list = f"{prefix}{key}", *_section(field.annotation)
        if inner is not None:
            yield from _rows(inner, f"{path}[]." if is_list else f"{path}.")
        else:
            yield (
                path,
                _default(field.get_default(call_default_factory=True)),
                _valid_values(field.annotation, field.metadata),
                field.description or "",
            )


def _section(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """Returns the model of a field or of the items of its list, and whether it is a list; no model for other fields."""
    for part in (annotation, *get_args(annotation)):
        if isinstance(part, type) and issubclass(part, BaseModel):
            return part, False
        if get_origin(part) is list and isinstance(item := get_args(part)[0], type) and issubclass(item, BaseModel):
            return item, True
    return None, False


def _default(value: Any) -> str:
    return "" if value in (None, "") or str(value) == "PydanticUndefined" else f"`{json.dumps(value)}`"


def _valid_values(annotation: Any, metadata: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) in (Union, types.UnionType):
        return _valid_values(next(part for part in get_args(annotation) if part is not type(None)), metadata)
    low, high = _bounds(metadata)
    bounds = (f"≥ {low}" if low > INT32[0] else "", f"≤ {high}" if high < INT32[1] else "")
    return ", ".join(filter(None, bounds))


def _bounds(metadata: Any) -> tuple[int, int]:
    """Returns the lowest and the highest valid integer, by all constraints of a field."""
    low, high = INT32
    for constraint in metadata:
        low = max(low, getattr(constraint, "ge", low), getattr(constraint, "gt", low - 1) + 1)
        high = min(high, getattr(constraint, "le", high))
    return low, high


def main() -> None:
    """Replaces the table in the page."""
    page = PAGE.read_text("utf-8")
    PAGE.write_text(TABLE.sub(lambda _: table(), page), "utf-8")


if __name__ == "__main__":
    main()
