"""The edits that lead from one input to another: field by field, and each with the line on which it stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from grove_compiler.graph.field_path import ABSENT, FieldPath, replace
from grove_compiler.graph.node import Manifest
from grove_compiler.graph.object_list import is_list, objects_in
from grove_compiler.impact.change import Change, changes
from grove_compiler.model.spec.podcliqueset import LAST_APPLIED
from grove_compiler.source.document import Document

Key = tuple[str, str, str]
"""Kind, namespace and name."""

SERVER_METADATA = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")


@dataclass(slots=True, eq=False)
class Given:
    """A manifest of the input, and where it stands."""

    key: Key
    manifest: Manifest
    document: Document
    at: FieldPath


@dataclass(slots=True, eq=False)
class Edit:
    """One change of the input. With an empty path the whole manifest is added (`before` is `ABSENT`) or taken away.

    File and line are those of the new input, or of the old one for what is gone; 0 is unknown.
    """

    key: Key
    change: Change
    file: str
    line: int

    @property
    def subject(self) -> str:
        """`Kind/namespace/name`, or `Kind/name` for what has no namespace."""
        return "/".join(part for part in self.key if part)


def as_declared(documents: Iterable[Document]) -> list[Document]:
    """Returns the documents without what an API server adds to every object, so that `kubectl get -o yaml` can be compared with a file."""
    return [Document(_declared(one.value), one.file, one.index, one.line, one.origin) for one in documents]


def _declared(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if is_list(value):
        return {**value, "items": [_declared(item) for item in value["items"]]}
    result = {key: part for key, part in value.items() if key != "status"}
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        result["metadata"] = {key: part for key, part in metadata.items() if key not in SERVER_METADATA}
        annotations = metadata.get("annotations")
        if isinstance(annotations, dict) and LAST_APPLIED in annotations:
            result["metadata"]["annotations"] = {key: part for key, part in annotations.items() if key != LAST_APPLIED}
    return result


def given(documents: Iterable[Document], namespace: str) -> dict[Key, Given]:
    """Returns the manifests of an input by kind, namespace and name; sets without a namespace are in the one that is given."""
    result: dict[Key, Given] = {}
    for document in documents:
        for at, value in objects_in(document.value):
            if isinstance(value, dict):
                key = key_of(value, namespace)
                result.setdefault(key, Given(key, value, document, at))
    return result


def key_of(manifest: Manifest, namespace: str) -> Key:
    """Returns the key of a manifest."""
    metadata = manifest.get("metadata")
    fields: dict[str, Any] = metadata if isinstance(metadata, dict) else {}
    kind = str(manifest.get("kind") or "")
    place = fields.get("namespace") or (namespace if kind in ("PodCliqueSet", "ResourceClaimTemplate") else "")
    return kind, str(place), str(fields.get("name") or "")


def edits(old: dict[Key, Given], new: dict[Key, Given]) -> list[Edit]:
    """Returns everything that differs, by the order of the new input; what is gone comes last."""
    result = []
    for key, one in new.items():
        before = old[key].manifest if key in old else ABSENT
        result += [_edit(key, change, one, old.get(key)) for change in changes(before, one.manifest)]
    return result + [_edit(key, Change((), one.manifest, ABSENT), None, one) for key, one in old.items() if key not in new]


def applied(old: dict[Key, Given], edit: Edit) -> list[Document]:
    """Returns the old input with one edit."""
    manifests = {key: one.manifest for key, one in old.items()}
    path, value = edit.change.path, edit.change.after
    if path:
        manifests[edit.key] = replace(manifests[edit.key], path, value)
    elif value is ABSENT:
        del manifests[edit.key]
    else:
        manifests[edit.key] = value
    return [Document(manifest) for manifest in manifests.values()]


def _edit(key: Key, change: Change, new: Given | None, old: Given | None) -> Edit:
    places = [new, old] if change.after is not ABSENT else [old, new]
    shown = next(place for place in places if place is not None)
    line, _ = shown.document.place((*shown.at, *change.path))
    return Edit(key, change, shown.document.file, line)


def in_order(result: Sequence[Edit]) -> list[Edit]:
    """Returns the same edits by the place where they stand."""
    return sorted(result, key=lambda edit: (edit.file, edit.line))
