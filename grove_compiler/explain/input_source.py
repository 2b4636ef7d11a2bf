"""Names the source of an input's value: a line of a file, a default, the operator's configuration, the command line, the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any, Literal

from grove_compiler.engine.tracing.provenance import Guard
from grove_compiler.engine.tracing.tracking import Input
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.record import record
from grove_compiler.source.document import Document

SourceKind = Literal["file", "default", "schema", "absent", "configuration", "setting", "snapshot"]


@record
class Default:
    """A value that a default rule has set, and what the rule read."""

    rule: str
    inputs: tuple[Input, ...]


@record
class InputManifest:
    """A manifest of the input. `value` is the manifest after defaulting, `written` the one in the document.

    `defaults` holds the values set by default rules, `schema` the paths set by the schema's defaults, `unmet` the conditions for which a
    default rule did not set a path. `document` is None for an object of a snapshot without a text.
    """

    kind: str
    written: Manifest
    document: Document | None
    at: FieldPath
    is_snapshot: bool = False
    value: Manifest = field(default_factory=dict)
    defaults: dict[FieldPath, Default] = field(default_factory=dict)
    schema: set[FieldPath] = field(default_factory=set)
    unmet: dict[FieldPath, Guard] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """`Kind/namespace/name` as far as the manifest has them; the kind alone without a name."""
        name = str(self.metadata.get("name") or "")
        return ObjectRef("", self.kind, str(self.metadata.get("namespace") or ""), name).id if name else self.kind

    @property
    def metadata(self) -> Manifest:
        """Its metadata in the document."""
        return self.written.get("metadata") or {}

    def place(self, path: FieldPath) -> tuple[str, int, int]:
        """Returns file, line and column of a field, or of its nearest existing ancestor; empty and 0 without a document."""
        if self.document is None:
            return "", 0, 0
        return self.document.file, *self.document.place((*self.at, *path))


@record
class InputSource:
    """An input's value and its source.

    `name` is the object that it belongs to, `inputs` what a default rule (`rule`) computed it from. `line` is 0 where there is no text.
    """

    kind: SourceKind
    name: str
    path: FieldPath
    value: Any
    file: str = ""
    line: int = 0
    column: int = 0
    rule: str = ""
    inputs: list[InputSource] = field(default_factory=list)

    def all(self) -> Iterator[InputSource]:
        """Yields it, and all inputs that a default computed it from, at any depth."""
        yield self
        for source in self.inputs:
            yield from source.all()


def scalars(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Yields every scalar and every empty container, with its path."""
    if isinstance(value, dict | list) and value:
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from scalars(part, (*path, key))
    else:
        yield path, value


def additions(before: Any, after: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """Yields the paths that are in `after` and not in `before`; nulls count as absent."""
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key, part in after.items():
            yield from [(*path, key)] if before.get(key) is None and part is not None else additions(before.get(key), part, (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        for index, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from additions(old, new, (*path, index))
