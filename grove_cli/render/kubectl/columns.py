"""Prints objects in columns that users choose, and sorts them by a field, as `-o custom-columns` and `--sort-by` of kubectl do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cmp_to_key
from typing import Any

from grove_cli.render.as_table import table
from grove_cli.render.kubectl.jsonpath import JsonPathTemplate, relaxed
from grove_cli.render.kubectl.values import InvalidExpression, plain
from grove_cli.terminal import visible
from kube_objects.manifest import Manifest
from kube_objects.quantity import QuantityError, compare

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


def sorted_by(path: JsonPathTemplate, objects: Sequence[Manifest]) -> list[Manifest]:
    """Returns the objects by the value at a path, those without it first. Raises `InvalidExpression` if no object has it."""
    values = [_value_at(path, manifest) for manifest in objects]
    if objects and all(value is None for value in values):
        raise InvalidExpression(f'couldn\'t find any field with path "{path.text}" in the list of objects')
    return [manifest for _, manifest in sorted(zip(values, objects, strict=True), key=cmp_to_key(_by_value))]


def _value_at(path: JsonPathTemplate, manifest: Manifest) -> Any:
    value = next((value for found in path.results(manifest) for value in found), None)
    if isinstance(value, dict | list):
        raise InvalidExpression(f"unsortable type: {'map' if isinstance(value, dict) else 'list'} at {path.text}")
    return value


def _by_value(left: tuple[Any, Manifest], right: tuple[Any, Manifest]) -> int:
    return _order(left[0], right[0])


def _order(left: Any, right: Any) -> int:
    """Compares two values: numbers by size, texts as quantities where both are, and else letter by letter, as kubectl does."""
    if left is None or right is None:
        return (left is not None) - (right is not None)
    if isinstance(left, str) and isinstance(right, str):
        try:
            return compare(left, right)
        except QuantityError:
            return _compare(left, right)
    if isinstance(left, str) or isinstance(right, str):
        return isinstance(left, str) - isinstance(right, str)
    return _compare(left, right)


def _compare(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)
