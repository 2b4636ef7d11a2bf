"""Finds the edits between two inputs: the fields that differ in meaning, each with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from grove_compiler.decoder import CLAIM_TEMPLATE_KIND, Decoder
from grove_compiler.engine.runtime.program import Program
from grove_compiler.graph import field_path
from grove_compiler.graph.field_path import ABSENT, FieldPath, value_at
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.semantic_difference import Change, object_differences
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.record import record
from grove_compiler.source.document import Document, is_list, objects_in
from kube_objects.manifest import LAST_APPLIED, section

Key = tuple[str, str, str]
"""Kind, namespace and name."""

SERVER_METADATA = ("creationTimestamp", "finalizers", "generation", "managedFields", "resourceVersion", "selfLink", "uid")
"""Metadata that servers and operators write into every object, and that files do not have."""


@record
class GivenObject:
    """Holds a manifest of the input as written, with its defaults, and its place."""

    manifest: Manifest
    defaulted: Manifest
    document: Document
    at: FieldPath


GivenObjects = dict[Key, GivenObject]


@record
class Edit:
    """Represents one change of the input. With an empty path the whole manifest is added (`before` is `ABSENT`) or removed.

    File and line are those of the new input, or of the old one for a removed field; 0 is unknown.
    """

    key: Key
    change: Change
    file: str
    line: int

    @property
    def subject(self) -> str:
        """The manifest's id: `Kind/namespace/name`, or `Kind/name` without a namespace."""
        return "/".join(part for part in self.key if part)


def as_declared(documents: Iterable[Document]) -> list[Document]:
    """Returns the documents without the fields that an API server adds, so that `kubectl get -o yaml` compares with a file."""
    return [replace(document, value=_declared(document.value)) for document in documents]


def _declared(value: Any) -> Any:
    if is_list(value):
        return {**value, "items": [_declared(item) for item in value["items"]]}
    if not isinstance(section(value).get("metadata"), dict):
        return value
    metadata = {key: part for key, part in value["metadata"].items() if key not in SERVER_METADATA}
    if LAST_APPLIED in section(metadata, "annotations"):
        metadata["annotations"] = {key: part for key, part in metadata["annotations"].items() if key != LAST_APPLIED}
    return {**{key: part for key, part in value.items() if key != "status"}, "metadata": metadata}


def read_given(documents: Iterable[Document], program: Program, settings: Settings) -> GivenObjects:
    """Returns the manifests of an input by kind, namespace and name; sets without a namespace are in that of the settings."""
    result: GivenObjects = {}
    for document in documents:
        for at, value in objects_in(document.value):
            if isinstance(value, dict):
                decoded = Decoder(program, {"settings": settings}).take([Document(value)])
                defaulted = decoded[0].manifest if decoded else value
                result.setdefault(_key(defaulted, settings.namespace), GivenObject(value, defaulted, document, at))
    return result


def _key(manifest: Manifest, namespace: str) -> Key:
    metadata, kind = section(manifest, "metadata"), str(manifest.get("kind") or "")
    place = metadata.get("namespace") or (namespace if kind == CLAIM_TEMPLATE_KIND else "")
    return kind, str(place), str(metadata.get("name") or "")


def edits(old: GivenObjects, new: GivenObjects) -> list[Edit]:
    """Returns all fields that differ in meaning, in the order of their places."""
    result = []
    for key in {**new, **old}:
        before, after = old.get(key), new.get(key)
        for change in _changes(before, after):
            holder = (before if change.after is ABSENT or after is None else after) or after
            assert holder is not None  # each key is in one of the two inputs
            line, _ = holder.document.place((*holder.at, *change.path))
            result.append(Edit(key, change, holder.document.file, line))
    return sorted(result, key=lambda edit: (edit.file, edit.line))


def _changes(old: GivenObject | None, new: GivenObject | None) -> Iterator[Change]:
    """Yields the written fields that differ after defaulting.

    A field that differs only because its default depends on another field is no edit.
    """
    if old is None or new is None:
        yield Change((), old.manifest if old else ABSENT, new.manifest if new else ABSENT)
        return
    reported: set[FieldPath] = set()
    for change in object_differences(old.defaulted, new.defaulted):
        path = change.path
        while value_at(old.manifest, path[:-1]) is ABSENT or value_at(new.manifest, path[:-1]) is ABSENT:
            path = path[:-1]
        before, after = value_at(old.manifest, path), value_at(new.manifest, path)
        if path not in reported and (before is not ABSENT or after is not ABSENT):
            reported.add(path)
            yield Change(path, before, after)


def applied(old: GivenObjects, edit: Edit) -> list[Document]:
    """Returns the old input with one edit applied."""
    manifests = {key: given.manifest for key, given in old.items()}
    manifests[edit.key] = field_path.replace(manifests.get(edit.key), edit.change.path, edit.change.after)
    return [Document(manifest) for manifest in manifests.values() if manifest is not ABSENT]
