"""Classifies documents: compiled, applied as they are, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, NamedTuple

from applier.ref import Kind, Manifest
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.record import record
from grove_compiler.source.document import Document, objects_in

API_GROUP = "grove.io"
MADE_BY_COMPILING = {
    (API_GROUP, "PodClique"),
    (API_GROUP, "PodCliqueScalingGroup"),
    ("scheduler.grove.io", "PodGang"),
}
"""Kinds of ours that are results: manifests of them are taken as they are, as `grove compile` printed them."""
SUBJECTS = ("PodCliqueSet", "ClusterTopology", "ClusterTopologyBinding")
"""What is compiled and exists in a cluster as well, as the owner of what it becomes."""
REFERENCES = {("resource.k8s.io", "ResourceClaimTemplate"), ("autoscaling", "HorizontalPodAutoscaler")}
"""What sets refer to, or what refers to them: written as it is, and known to the compiler."""


class Item(NamedTuple):
    """One manifest and where it stands."""

    manifest: Manifest
    document: Document

    @property
    def source(self) -> str:
        return f"{self.document.file}:{self.document.line}" if self.document.file else ""


class _Problem(NamedTuple):
    """What is wrong at a path, and Kubernetes' word for it."""

    path: FieldPath
    message: str
    type: str = "Required value"


@record
class Classified:
    """`compiled` goes to the compiler; `plain` is written as it is; `subjects`, of both, own what they become."""

    compiled: list[Document] = field(default_factory=list)
    plain: list[Item] = field(default_factory=list)
    subjects: list[Item] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)


def classify_documents(documents: Sequence[Document]) -> Classified:
    """Classifies each manifest; the items of lists count as manifests of their own."""
    result = Classified()
    for document in documents:
        items = list(objects_in(document.value))
        ours = [_is_ours(value) for _, value in items]
        if items and all(ours):
            result.compiled.append(document)  # as a whole: findings keep their lines
        for (at, value), is_ours in zip(items, ours, strict=True):
            if is_ours:
                _take_ours(result, document, value, alone=not all(ours))
            else:
                _take_plain(result, document, at, value)
    if result.compiled:
        result.compiled += [item.document for item in result.plain if _group_kind(item.manifest) in REFERENCES]
    return result


def about_compiled(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Returns the compiler's findings without its word that it makes nothing of what is only known to it: that is written as it is."""
    return [one for one in found if one.code != "input/ignored"]


def _take_ours(result: Classified, document: Document, value: Manifest, *, alone: bool) -> None:
    part = Document(value, document.file, document.index, document.line) if alone else document
    if alone:
        result.compiled.append(part)
    if _group_kind(value)[0] == API_GROUP and value["kind"] in SUBJECTS and _name_of(value):
        result.subjects.append(Item(value, part))


def _take_plain(result: Classified, document: Document, at: FieldPath, value: Any) -> None:
    problem = _problem(value)
    if problem is None:
        whole = value is document.value
        result.plain.append(Item(value, document if whole else Document(value, document.file, document.index, document.line)))
        return
    path, message, type = problem
    line, column = document.place((*at, *path))
    result.findings.append(
        Diagnostic("input/not-an-object", "error", message, render((*at, *path)), document.file, line, column, type=type)
    )


def _is_ours(value: Any) -> bool:
    """Tells whether the compiler has a say: a kind that it compiles, or one that it would call unknown in a group of ours."""
    if not isinstance(value, dict) or not isinstance(value.get("apiVersion"), str) or not isinstance(value.get("kind"), str):
        return False
    group, kind = _group_kind(value)
    return (group == API_GROUP or group.endswith(f".{API_GROUP}")) and (group, kind) not in MADE_BY_COMPILING


def _group_kind(manifest: Manifest) -> tuple[str, str]:
    kind = Kind.of(manifest)
    return kind.group, kind.kind


def _name_of(manifest: Manifest) -> str:
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _problem(value: Any) -> _Problem | None:
    """Returns the first thing that keeps a value from being an object with a name."""
    if not isinstance(value, dict):
        return _Problem((), "a manifest is a map with `apiVersion`, `kind` and `metadata`", "")
    for key in ("apiVersion", "kind"):
        if not isinstance(value.get(key), str) or not value[key]:
            return _Problem((key,), f"`{key}` is missing or not text")
    if not isinstance(value.get("metadata"), dict):
        return _Problem(("metadata",), "`metadata` is missing or not a map")
    if not _name_of(value):
        generated = " (a name that the server generates cannot be applied again)" if value["metadata"].get("generateName") else ""
        return _Problem(("metadata", "name"), f"`metadata.name` is missing or not text{generated}")
    return _path_problem(value["metadata"])


def _path_problem(metadata: Manifest) -> _Problem | None:
    """Refuses what no object of any kind is called: in the path of a request it would lead elsewhere."""
    for key in ("name", "namespace"):
        text = metadata.get(key) or ""
        if not isinstance(text, str):
            return _Problem(("metadata", key), f"`metadata.{key}` is not text", "Invalid value")
        if text in (".", "..") or "/" in text or "%" in text:
            why = f"no object has the {key} {text!r}: '.', '..', '/' and '%' belong to paths"
            return _Problem(("metadata", key), why, "Invalid value")
    return None
