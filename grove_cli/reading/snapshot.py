"""Reads existing objects in the format of kubectl, and validates the types of the fields that are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath, render
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.structure import check
from grove_compiler.source.document import Document, objects_in

Shape = Any
"""A type, a list of one shape, or a map of fields to shapes. Other fields may have any value."""

STRINGS: Shape = {}  # any key, with string values
OBJECT: Shape = {
    "apiVersion": str,
    "kind": str,
    "metadata": {
        "name": str,
        "namespace": str,
        "uid": str,
        "deletionTimestamp": str,
        "labels": STRINGS,
        "annotations": STRINGS,
        "finalizers": [str],
        "ownerReferences": [{"apiVersion": str, "kind": str, "name": str, "uid": str, "controller": bool}],
    },
    "spec": {"replicas": int, "minAvailable": int, "hostname": str, "nodeName": str, "schedulingGates": [{"name": str}]},
    "status": {"phase": str, "conditions": [{"type": str, "status": str, "reason": str}]},
}
EVENT: Shape = {
    **OBJECT,
    "involvedObject": {"kind": str, "namespace": str, "name": str, "uid": str},
    "source": {"component": str},
    "count": int,
}
"""Additional fields that `grove events` reads. Objects of other kinds may have any value in these fields."""
REQUIRED = (("apiVersion",), ("kind",), ("metadata",), ("metadata", "name"))
MISFITS = ("schema/wrong-type", "schema/time")
"""Codes of findings about values that no version of an API server stores."""
WORDS = {str: "text", int: "a whole number", bool: "true or false", list: "a list", dict: "a map"}


def read_objects(document: Document, report: Callable[[Diagnostic], None]) -> list[Manifest]:
    """Returns the objects of a document, including those of lists. Values that are not objects are reported and omitted."""
    objects = []
    for at, item in objects_in(document.value):
        wrong = (
            list(_faults(item, _shape_of(item), ()))
            or [(path, "is missing") for path in REQUIRED if not _has(item, path)][:1]
            or _misfits(item)
        )
        if not wrong:
            objects.append(item)
        for path, message in wrong:
            line, column = document.place((*at, *path))
            report(Diagnostic("snapshot/not-an-object", "error", message, render((*at, *path)), document.file, line, column))
    return objects


def _shape_of(item: Any) -> Shape:
    return EVENT if isinstance(item, dict) and (item.get("apiVersion"), item.get("kind")) == ("v1", "Event") else OBJECT


def _misfits(manifest: Manifest) -> list[tuple[FieldPath, str]]:
    """Yields values of another type than the fields of our kinds have: rules expect what an API server stores.

    What is missing, or not known, may well be so in a cluster of another version.
    """
    schema = KINDS.get((manifest["apiVersion"], manifest["kind"]))
    result = check(manifest, dict(schema), DEFINITIONS) if schema is not None else []
    name = f"{manifest['kind']} {manifest['metadata']['name']!r}"
    return [(path, f"{one.message}; {name} is not an object as an API server stores it") for path, one in result if one.code in MISFITS]


def _faults(value: Any, shape: Shape, path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    """Yields every value of another type than its shape; null fields are absent."""
    kind = type(shape) if isinstance(shape, dict | list) else shape
    if value is None and path and isinstance(path[-1], str):
        return
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        yield path, f"expected {WORDS[kind]}; the snapshot is not an object as an API server stores it"
    else:
        for step, part, inner in _parts(value, shape):
            yield from _faults(part, inner, (*path, step))


def _parts(value: Any, shape: Shape) -> Iterator[tuple[str | int, Any, Shape]]:
    """Yields the items of a list, or the fields of a map, with a shape of their own."""
    if isinstance(shape, list):
        yield from ((index, item, shape[0]) for index, item in enumerate(value))
    elif shape is STRINGS:
        yield from ((key, part, str) for key, part in value.items())
    elif isinstance(shape, dict):
        yield from ((key, value[key], inner) for key, inner in shape.items() if key in value)


def _has(value: Any, path: FieldPath) -> bool:
    for step in path:
        value = value.get(step)
        if not value:
            return False
    return True
