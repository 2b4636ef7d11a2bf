"""Classifies documents as inputs of the compiler, plain manifests, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, NamedTuple

from applier.ref import Kind, Manifest
from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.record import record
from grove_compiler.source.document import Document, objects_in

API_GROUP = "grove.io"
COMPILED_KINDS = {(API_GROUP, "PodClique"), (API_GROUP, "PodCliqueScalingGroup"), ("scheduler.grove.io", "PodGang")}
"""Kinds of our groups that the compiler produces. Their manifests, such as the output of `grove compile`, are plain."""
SUBJECTS = ("PodCliqueSet", "ClusterTopology", "ClusterTopologyBinding")
"""Kinds that are compiled and also applied, as the owners of the compiled objects."""
REFERENCES = {("resource.k8s.io", "ResourceClaimTemplate"), ("autoscaling", "HorizontalPodAutoscaler")}
"""Kinds that sets refer to, or that refer to sets: plain, and also read by the compiler."""


class Item(NamedTuple):
    """A manifest and its document."""

    manifest: Manifest
    document: Document

    @property
    def source(self) -> str:
        return f"{self.document.file}:{self.document.line}" if self.document.file else ""


class _Problem(NamedTuple):
    """An error at a path; `type` is Kubernetes' term for it."""

    path: FieldPath
    message: str
    type: str = "Required value"


@record
class Classified:
    """`compiled` documents are inputs of the compiler, `plain` ones are applied unchanged, and `subjects` are both."""

    compiled: list[Document] = field(default_factory=list)
    plain: list[Item] = field(default_factory=list)
    subjects: list[Item] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def references(self) -> list[Item]:
        """The plain manifests that the compiler reads, too."""
        return [item for item in self.plain if _group_kind(item.manifest) in REFERENCES]


def classify_documents(documents: Sequence[Document]) -> Classified:
    """Classifies each manifest, and each item of a list."""
    result = Classified()
    for document in documents:
        items = list(objects_in(document.value))
        ours = [_is_ours(value) for _, value in items]
        if items and all(ours):
            result.compiled.append(document)  # the whole document, so that findings keep their lines
        for (at, value), is_ours in zip(items, ours, strict=True):
            if is_ours:
                _take_ours(result, document, value, alone=not all(ours))
            else:
                _take_plain(result, document, at, value)
    if result.compiled:
        result.compiled += [item.document for item in result.references]
    return result


def about_compiled(findings: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Returns the compiler's findings without those about ignored documents, which are applied unchanged."""
    return [finding for finding in findings if finding.code != "input/ignored"]


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
    path, message, problem_type = problem
    result.findings.append(document.finding("input/not-an-object", message, (*at, *path), type=problem_type))


def _is_ours(value: Any) -> bool:
    """Returns whether a manifest is an input of the compiler: also one of an unknown kind of our groups, which it reports."""
    if not isinstance(value, dict) or not isinstance(value.get("apiVersion"), str) or not isinstance(value.get("kind"), str):
        return False
    group, kind = _group_kind(value)
    return (group == API_GROUP or group.endswith(f".{API_GROUP}")) and (group, kind) not in COMPILED_KINDS


def _group_kind(manifest: Manifest) -> tuple[str, str]:
    kind = Kind.of(manifest)
    return kind.group, kind.kind


def _name_of(manifest: Manifest) -> str:
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _problem(value: Any) -> _Problem | None:
    """Returns the first reason for which a value is not an object with a name."""
    if not isinstance(value, dict):
        return _Problem((), "a manifest must be a map with `apiVersion`, `kind` and `metadata`", "")
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
    """Rejects names that are invalid for all kinds and would change the path of a request."""
    for key in ("name", "namespace"):
        text = metadata.get(key) or ""
        if not isinstance(text, str):
            return _Problem(("metadata", key), f"`metadata.{key}` is not text", "Invalid value")
        if text in (".", "..") or "/" in text or "%" in text:
            why = f"no object has the {key} {text!r}: '.', '..', '/' and '%' belong to paths"
            return _Problem(("metadata", key), why, "Invalid value")
    return None
