"""The manifests of a nodes file, each with its place for findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from grove_compiler.graph.diagnostic import Diagnostic, Severity
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.object_list import objects_in


class Source(Protocol):
    """A document that was read: `grove_compiler.source` has one."""

    value: Any
    file: str

    def place(self, path: FieldPath) -> tuple[int, int]:
        """Returns line and column of a path."""


@dataclass(slots=True, eq=False)
class Sourced:
    """An object of a file; `at` is its path there, which is not the root for an item of a `List`."""

    value: Any
    source: Source
    at: FieldPath = ()

    @property
    def kind(self) -> str:
        return str(self.value.get("kind")) if isinstance(self.value, dict) else ""

    @property
    def name(self) -> str:
        """The object's name; empty when it has none."""
        name = self.field("metadata", "name")
        return name if isinstance(name, str) else ""

    def field(self, *path: str) -> Any:
        """Returns the value at a path, None where there is nothing."""
        value = self.value
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        return value

    def finding(self, code: str, severity: Severity, message: str, path: FieldPath = (), **more: Any) -> Diagnostic:
        """Returns a diagnostic about a path of this object, with file, line and column."""
        line, column = self.source.place((*self.at, *path))
        return Diagnostic(code, severity, message, render((*self.at, *path)), self.source.file, line, column, **more)


def objects_of(sources: Iterable[Source]) -> Iterator[Sourced]:
    """Returns the objects in documents; lists count as their items."""
    return (Sourced(value, source, at) for source in sources for at, value in objects_in(source.value))
