"""Tracks the documents of a compilation: the value of each field, and its source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from grove_compiler.decoder import CONFIGURATION_KIND
from grove_compiler.engine.runtime.access import OMIT
from grove_compiler.engine.runtime.defaults import apply_default
from grove_compiler.engine.runtime.failure import RuleInfo
from grove_compiler.engine.tracing.provenance import Tracer
from grove_compiler.engine.tracing.tracking import Input, plain, tracked
from grove_compiler.explain.input_source import Default, InputManifest, InputSource, SourceKind, additions
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import ABSENT, FieldPath, value_at
from grove_compiler.graph.node import Manifest
from grove_compiler.source.document import Document, objects_in

CONFIGURATION = "configuration"
SETTINGS = "settings"


class TrackedInputs:
    """Replaces the program while inputs are decoded: applies the same defaults, and returns tracked manifests.

    Nothing is validated, because the input was compiled before. A manifest's index in `manifests` is its source as an input.
    """

    def __init__(self, tracer: Tracer, documents: Iterable[Document], snapshot_documents: Iterable[Document]) -> None:
        self.tracer = tracer
        self.manifests: list[InputManifest] = []
        self.settings: dict[str, Any] = {}
        self._sources: dict[Input, InputSource] = {}
        self._unclaimed = [found for document in documents for found in _objects(document)]
        self._snapshot = [found for document in snapshot_documents for found in _objects(document)]

    # -- as the program ----------------------------------------------------------------------------------------------------

    def default(self, kind: str, manifest: Manifest, scope: Mapping[str, Any], _: object = None) -> Manifest:
        """Returns the manifest after defaulting, tracked, and records every default. What is replaced it leaves to a plain compilation."""
        document, at, written = self._claim(kind, manifest)
        number, input_manifest = len(self.manifests), InputManifest(kind, written, document, at)
        self.manifests.append(input_manifest)
        input_manifest.schema.update(additions(written, manifest))
        for rule in self.tracer.rules:
            if rule.verb == "default" and kind in rule.details["of"]:
                for steps in (steps for path in rule.details["paths"] for steps in path):
                    manifest = self._apply(rule, steps, manifest, scope, number)
        input_manifest.value = manifest
        tracked_manifest: Manifest = tracked(manifest, self.tracer.recorder, number)
        return tracked_manifest

    @property
    def decisions(self) -> SimpleNamespace:
        """The decisions of the rules, on tracked values."""
        return self.tracer.decisions

    def validate(self, *_: Any, **__: Any) -> list[Diagnostic]:
        """Returns no findings."""
        return []

    # -- sources -------------------------------------------------------------------------------------------------------------

    def object_of_snapshot(self, manifest: Manifest) -> Manifest:
        """Returns an object of the snapshot, tracked."""
        key = _key(manifest)
        document, at = next(((document, at) for document, at, value in self._snapshot if _key(value) == key), (None, ()))
        input_manifest = InputManifest(str(manifest.get("kind")), manifest, document, at, is_snapshot=True, value=manifest)
        self.manifests.append(input_manifest)
        tracked_manifest: Manifest = tracked(manifest, self.tracer.recorder, len(self.manifests) - 1)
        return tracked_manifest

    def source_of(self, read: Input) -> InputSource:
        """Returns the source of an input. Fields share most of their inputs, so each is looked up once."""
        if read not in self._sources:
            self._sources[read] = self._source_of(read)
        return self._sources[read]

    def _source_of(self, read: Input) -> InputSource:
        path = read.path
        if read.source == SETTINGS:
            return InputSource("setting", SETTINGS, path, self.settings.get(str(path[0])))
        if read.source == CONFIGURATION:
            return InputSource("configuration", CONFIGURATION_KIND, path, None)
        input_manifest = self.manifests[int(read.source)]
        value = value_at(input_manifest.value, path)
        file, line, column = input_manifest.place(path)
        kind: SourceKind = "snapshot" if input_manifest.is_snapshot else "file"
        source = InputSource(kind, input_manifest.id, path, None if value is ABSENT else value, file, line, column)
        for length in range(len(path), 0, -1):
            default = input_manifest.defaults.get(path[:length])
            if default is not None:
                source.kind, source.rule = "default", default.rule
                source.inputs = [self.source_of(other) for other in default.inputs if other != read]
                return source
            if path[:length] in input_manifest.schema:
                source.kind = "schema"
                return source
        if value is ABSENT:
            source.kind = "absent"
            condition = input_manifest.unmet.get(path)
            source.inputs = [self.source_of(other) for other in condition.inputs if other != read] if condition else []
        return source

    def source_at(self, input_manifest: InputManifest, path: FieldPath) -> InputSource:
        """Returns the source of a field of a manifest."""
        return self.source_of(Input(self.manifests.index(input_manifest), path))

    # -- defaults ------------------------------------------------------------------------------------------------------------

    def _claim(self, kind: str, manifest: Manifest) -> tuple[Document | None, FieldPath, Manifest]:
        """Removes and returns the document that a manifest comes from, found by identity: decoding shares unchanged parts."""
        for position, (document, at, value) in enumerate(self._unclaimed):
            if value is manifest or (value.get("kind") == kind and value.get("metadata") is manifest.get("metadata")):
                del self._unclaimed[position]
                return document, at, value
        return None, (), manifest

    def _apply(self, rule: RuleInfo, steps: list[list[str]], manifest: Manifest, scope: Mapping[str, Any], number: int) -> Manifest:
        whole = tracked(manifest, self.tracer.recorder, number)
        input_manifest = self.manifests[number]

        def value(_: Any, item: Any, parent: Any) -> Any:
            found, conditions, inputs = self.tracer.default(rule.id, scope, whole, item, parent)
            path = (*item.place.path, steps[-1][1])
            if found is not OMIT:
                input_manifest.defaults[path] = Default(rule.id, inputs)
            elif conditions and not conditions[-1].holds:
                input_manifest.unmet[path] = conditions[-1]
            return found

        changed: Manifest = plain(apply_default(whole, [steps], value, set(), rule.details["absent"]))
        return changed


def _objects(document: Document) -> Iterable[tuple[Document, FieldPath, Manifest]]:
    """Returns the manifests of a document; the items of a list one by one."""
    return [(document, at, value) for at, value in objects_in(document.value) if isinstance(value, dict)]


def _key(manifest: Manifest) -> tuple[Any, ...]:
    metadata = manifest.get("metadata") or {}
    return manifest.get("apiVersion"), manifest.get("kind"), metadata.get("namespace"), metadata.get("name")
