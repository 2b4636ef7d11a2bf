"""Prints objects in columns that users choose: `-o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grove_cli.render.as_table import table
from grove_cli.render.kubectl.errors import InvalidExpression
from grove_cli.render.kubectl.jsonpath import JsonPathTemplate, relaxed
from grove_cli.render.kubectl.values import plain
from grove_cli.terminal import visible

NOTHING = "<none>"


class Columns:
    """Columns with their headers and paths. Raises `InvalidExpression`."""

    def __init__(self, spec: str) -> None:
        if not spec:
            raise InvalidExpression("custom-columns format specified but no custom columns given")
        self._columns = [_column(part) for part in spec.split(",")]

    def rendered(self, objects: Iterable[Any], *, headers: bool = True) -> str:
        """Returns a line for each object, below the headers. Raises `InvalidExpression`."""
        head = [[header for header, _ in self._columns]] if headers else []
        rows = [*head, *([_cell(path, manifest) for _, path in self._columns] for manifest in objects)]
        return table(rows)


def _column(part: str) -> tuple[str, JsonPathTemplate]:
    header, colon, path = part.partition(":")
    if not colon:
        raise InvalidExpression(f"unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>")
    return header, relaxed(path)


def _cell(path: JsonPathTemplate, manifest: Any) -> str:
    values = [value for found in path.results(manifest) for value in found]
    return visible(",".join(NOTHING if value is None else plain(value) for value in values) or NOTHING)
