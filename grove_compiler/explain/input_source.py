"""Who says the value of an input: a line of a file, a default, the operator's configuration, the command line, the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any, Literal

from grove_compiler.engine.tracing.provenance import Condition
from grove_compiler.engine.tracing.tracking import Input
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.record import record
from grove_compiler.source.document import Document

How = Literal["file", "default", "schema", "absent", "configuration", "setting", "snapshot"]


@record
class Default:
    """A value that a default rule put in, and what it read to find it."""

    rule: str
    inputs: tuple[Input, ...]


@record
class Given:
    """One manifest that was put in. `value` is what it is after defaulting, `written` what the document has.

    `defaults` holds what default rules put in, `schema` the paths that the schema's own defaults did, `refusals` the conditions that
    kept a default rule from a path. `document` is none for an object of a snapshot whose text is not at hand.
    """

    kind: str
    written: Manifest
    document: Document | None
    at: FieldPath
    is_snapshot: bool = False
    value: Manifest = field(default_factory=dict)
    defaults: dict[FieldPath, Default] = field(default_factory=dict)
    schema: set[FieldPath] = field(default_factory=set)
    refusals: dict[FieldPath, Condition] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """`Kind/namespace/name` as far as the manifest says them; the kind alone without a name."""
        name = str(self.metadata.get("name") or "")
        return ObjectRef("", self.kind, str(self.metadata.get("namespace") or ""), name).id if name else self.kind

    @property
    def metadata(self) -> Manifest:
        """Its metadata, as they are written."""
        return self.written.get("metadata") or {}

    def place(self, path: FieldPath) -> tuple[str, int, int]:
        """File, line and column of a field, or of what is nearest above it."""
        if self.document is None:
            return "", 0, 0
        return self.document.file, *self.document.place((*self.at, *path))


@record
class InputSource:
    """An input's value and who says it.

    `name` is the object that it belongs to, `inputs` what a default rule (`rule`) found it from. `line` is 0 where there is no text.
    """

    how: How
    name: str
    path: FieldPath
    value: Any
    file: str = ""
    line: int = 0
    column: int = 0
    rule: str = ""
    inputs: list[InputSource] = field(default_factory=list)

    def all(self) -> Iterator[InputSource]:
        """Goes through it, and all that a default found it from."""
        yield self
        for one in self.inputs:
            yield from one.all()


def find(value: Any, path: FieldPath) -> tuple[bool, Any]:
    """Whether there is a value at a path, and which."""
    for step in path:
        if not (step in value if isinstance(value, dict) else isinstance(value, list) and isinstance(step, int) and step < len(value)):
            return False, None
        value = value[step]
    return True, value


def scalars(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """Every scalar and every empty container, with its path."""
    if isinstance(value, dict | list) and value:
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from scalars(part, (*path, key))
    else:
        yield path, value


def additions(before: Any, after: Any, path: FieldPath = ()) -> Iterator[FieldPath]:
    """The paths that are in `after` and not in `before`; nulls count as absent."""
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key, part in after.items():
            yield from [(*path, key)] if before.get(key) is None and part is not None else additions(before.get(key), part, (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        for index, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from additions(old, new, (*path, index))
