"""Reads existing objects in the format of kubectl, and validates the types of the fields that are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.definitions import DEFINITIONS, KINDS
from grove_compiler.kube.structure import Schema, check
from grove_compiler.source.document import Document, objects_in

_TEXT: Schema = {"kind": "string"}
_NAME: Schema = {"kind": "string", "min_length": 1}
_NUMBER: Schema = {"kind": "integer"}
_TEXTS: Schema = {"kind": "map", "values": _TEXT}


def _object(*required: str, **fields: Schema) -> Schema:
    """Returns the schema of a map with these fields; others may have any value."""
    return {"kind": "object", "fields": fields, "required": required, "unknown": "keep"}


def _list(items: Schema) -> Schema:
    return {"kind": "list", "items": items}


_OWNER = _object(apiVersion=_TEXT, kind=_TEXT, name=_TEXT, uid=_TEXT, controller={"kind": "boolean"})
OBJECT = _object(
    "apiVersion",
    "kind",
    "metadata",
    apiVersion=_NAME,
    kind=_NAME,
    metadata=_object(
        "name",
        name=_NAME,
        namespace=_TEXT,
        uid=_TEXT,
        deletionTimestamp=_TEXT,
        labels=_TEXTS,
        annotations=_TEXTS,
        finalizers=_list(_TEXT),
        ownerReferences=_list(_OWNER),
    ),
    spec=_object(replicas=_NUMBER, minAvailable=_NUMBER, hostname=_TEXT, nodeName=_TEXT, schedulingGates=_list(_object(name=_TEXT))),
    status=_object(phase=_TEXT, conditions=_list(_object(type=_TEXT, status=_TEXT, reason=_TEXT))),
)
"""The fields of an object of any kind that are read."""
_INVOLVED = _object(kind=_TEXT, namespace=_TEXT, name=_TEXT, uid=_TEXT)
_OF_EVENT: Schema = {"involvedObject": _INVOLVED, "source": _object(component=_TEXT), "count": _NUMBER}
EVENT: Schema = {**OBJECT, "fields": {**OBJECT["fields"], **_OF_EVENT}}
"""With the fields that `grove events` reads. Objects of other kinds may have any value in these."""
MISFITS = ("schema/wrong-type", "schema/time")
"""Codes of findings about values that no version of an API server stores."""


def read_objects(document: Document, report: Callable[[Diagnostic], None]) -> list[Manifest]:
    """Returns the objects of a document, including those of lists. Values that are not objects are reported and omitted."""
    objects = []
    for at, item in objects_in(document.value):
        wrong = _faults(item) or _misfits(item)
        if not wrong:
            objects.append(item)
        for path, message in wrong:
            text = f"{message} is not an object as an API server stores it"
            report(document.finding("snapshot/not-an-object", text, (*at, *path)))
    return objects


def _faults(item: Any) -> list[tuple[FieldPath, str]]:
    is_event = isinstance(item, dict) and (item.get("apiVersion"), item.get("kind")) == ("v1", "Event")
    return [(path, f"{one.message}; the snapshot") for path, one in check(item, EVENT if is_event else OBJECT, {})]


def _misfits(manifest: Manifest) -> list[tuple[FieldPath, str]]:
    """Returns the values of another type than the fields of our kinds have: rules expect what an API server stores.

    What is missing, or not known, may well be so in a cluster of another version.
    """
    schema = KINDS.get((manifest["apiVersion"], manifest["kind"]))
    result = check(manifest, dict(schema), DEFINITIONS) if schema is not None else []
    name = f"{manifest['kind']} {manifest['metadata']['name']!r}"
    return [(path, f"{one.message}; {name}") for path, one in result if one.code in MISFITS]
