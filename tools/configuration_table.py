"""Generates the table of `docs/configuration.md` from the types of the OperatorConfiguration: python -m tools.configuration_table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grove_compiler.api.tables import api_types

PAGE = Path(__file__).parent.parent / "docs" / "configuration.md"
TABLE = re.compile(r"\| field \| default \|.*?\n(?=\n)", re.DOTALL)
HEAD = ("apiVersion", "kind")


def table() -> str:
    """Returns the table in Markdown: the path, default, valid values and description of each field."""
    lines = ["| field | default | values | description |", "|---|---|---|---|"]
    rows = _rows("operator.config.grove.io/v1alpha1.OperatorConfiguration", "")
    lines += [f"| `{path}` | {default} | {values} | {text} |" for path, default, values, text in rows]
    return "\n".join(lines) + "\n"


def _rows(name: str, prefix: str) -> Iterator[tuple[str, str, str, str]]:
    for key, field in api_types().definitions[name]["fields"].items():
        path, below = f"{prefix}{key}", field.get("items", field).get("ref", "")
        if below in api_types().definitions:
            yield from _rows(below, f"{path}[]." if "items" in field else f"{path}.")
        elif path not in HEAD:
            yield path, _default(field.get("default")), _valid_values(field), field["doc"]


def _default(value: Any) -> str:
    return "" if value in (None, "") else f"`{json.dumps(value)}`"


def _valid_values(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    return ", ".join(f"{sign} {field[bound]}" for sign, bound in (("≥", "minimum"), ("≤", "maximum")) if bound in field)


def main() -> None:
    """Replaces the table in the page."""
    page = PAGE.read_text("utf-8")
    PAGE.write_text(TABLE.sub(lambda _: table(), page), "utf-8")


if __name__ == "__main__":
    main()
