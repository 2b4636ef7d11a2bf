"""Reads the manifests of a nodes file, each with its position in the file for findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from grove_compiler.gangs.clique import key_of
from grove_compiler.graph.diagnostic import Diagnostic, Severity
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.record import record
from grove_compiler.source.document import Document, objects_in
from kube_objects.manifest import section


@record
class Sourced:
    """Represents an object of a file; `at` is its path in the document, which is not the root for an item of a `List`."""

    value: Any
    document: Document
    at: FieldPath = ()

    @property
    def name(self) -> str:
        """Returns the object's name; empty when it has none."""
        return key_of(self.value)[1]

    def field(self, *path: str) -> Any:
        """Returns the value at a path, or None."""
        return section(self.value, *path[:-1]).get(path[-1])

    def finding(self, code: str, severity: Severity, message: str, *path: str | int, **more: Any) -> Diagnostic:
        """Returns a diagnostic about a path of this object, with file, line and column."""
        line, column = self.document.place((*self.at, *path))
        return Diagnostic(code, severity, message, render((*self.at, *path)), self.document.file, line, column, **more)


def sourced_objects(documents: Iterable[Document]) -> Iterator[Sourced]:
    """Yields the objects of documents, a `List` as its items."""
    return (Sourced(value, document, at) for document in documents for at, value in objects_in(document.value))
