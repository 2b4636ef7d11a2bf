"""Puts valid values in place of the invalid ones of a set, so that one look shows all mistakes.

Rules look at a set without its invalid values, so some of what they find may only follow from that: `replicas: two` is dropped, 1 is the
default, and `minAvailable: 2` is too much. What they find with any valid value in that place is a mistake of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grove_compiler.decoder import SET_KIND, Decoded, Decoder, InputRules
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath, parse, replace
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.structure import Schema
from grove_compiler.source.document import Document

VALUES: Mapping[str, Sequence[Any]] = {
    "boolean": (True, False),
    "integer": (1, 1000),
    "number": (1, 1000),
    "int-or-string": (1, 1000),
    "quantity": ("1", "1k"),
    "duration": ("1s", "1h0m0s"),
}
"""Valid values of a kind that are far apart."""


class StandIns:
    """The stand-ins of an object. Names, lists and maps have none: they would have to fit to other values.

    Only sets have them, since validation tries no other object, and the configuration where findings about sets are tried
    (`is_configuration`).
    """

    def __init__(self, entry: Decoded, *, is_configuration: bool = False) -> None:
        self._entry = entry
        is_tried = entry.kind == SET_KIND or is_configuration
        values = {path: values_of(schema_at(entry.manifest, path)) if is_tried else () for path in entry.faults}
        self._values = {path: found for path, found in values.items() if found}
        self._parents = {path[:-1] for path, found in values.items() if not found}

    def decoded(self, program: InputRules, scope: Mapping[str, Any]) -> Iterator[Decoded]:
        """Yields the object several times, each with other valid values."""
        for manifest in self.manifests():
            yield Decoder(program, scope).take([Document(manifest)])[0]

    def documents(self) -> Iterator[Document]:
        """Yields the object's document several times, each with other valid values, and without places."""
        whole = self._entry.document
        for manifest in self.manifests():
            yield Document(replace(whole.value, self._entry.at, manifest), whole.file)

    def manifests(self) -> Iterator[Manifest]:
        """Yields the manifest several times, each with other valid values."""
        original = self._entry.document.value
        for step in self._entry.at:
            original = original[step]
        for number in range(max(map(len, self._values.values()), default=0)):
            manifest = original
            for path, values in self._values.items():
                manifest = replace(manifest, path, values[number % len(values)])
            yield manifest

    def may_explain(self, finding: Diagnostic) -> bool:
        """Reports whether a finding is inside an invalid value, or beside or below one without stand-ins, and may only follow from that."""
        path = parse(finding.at or finding.path)
        above = [path[:length] for length in range(len(path) + 1)]
        return any(place in self._values or place in self._parents for place in above)


def schema_at(manifest: Manifest, path: FieldPath) -> Schema | None:
    """Returns the schema of a value in a manifest of our kinds; None where there is none."""
    schema: Schema | None = KINDS.get((str(manifest.get("apiVersion")), str(manifest.get("kind"))))
    for step in path:
        schema = _resolved(schema)
        if schema is None:
            return None
        kind = schema["kind"]
        schema = schema["fields"].get(step) if kind == "object" else schema.get("values") if kind == "map" else schema.get("items")
    return _resolved(schema)


def values_of(schema: Schema | None) -> Sequence[Any]:
    """Returns the stand-ins for a value of a schema."""
    return () if schema is None else schema.get("enum") or VALUES.get(schema["kind"], ())


def _resolved(schema: Schema | None) -> Schema | None:
    while schema is not None and "ref" in schema:
        schema = DEFINITIONS[schema["ref"]]
    return schema
