"""Schema tables from OpenAPI documents."""

from __future__ import annotations

from typing import Any

import pytest

from applier.decision import Schemas, read_openapi
from applier.decision.fields import field_set
from applier.ref import Kind
from tests.suite.rows import rows

from .schemas import recorded, type_of

_TEXT = {"type": "string"}
_GVK = {"group": "example.com", "version": "v1", "kind": "Thing"}


def _document(properties: dict[str, Any], *, status: bool = False, **others: Any) -> dict[str, Any]:
    thing = {"type": "object", "properties": properties, "x-kubernetes-group-version-kind": [_GVK]}
    path = "/apis/example.com/v1/namespaces/{namespace}/things/{name}" + "/status" * status
    return {
        "paths": {path: {"get": {"x-kubernetes-group-version-kind": _GVK}, "parameters": []}},
        "components": {"schemas": {"com.example.v1.Thing": thing, **others}},
    }


def _thing(properties: dict[str, Any], **others: Any) -> Any:
    found = read_openapi(_document(properties, **others)).get(Kind("example.com", "v1", "Thing"))
    assert found is not None
    return found


_ITEM = {"type": "object", "properties": {"id": _TEXT, "port": {"type": "integer", "default": 80}}}


@rows(
    ("schema", "value", "owned"),
    [
        ({"type": "array", "items": _TEXT}, ["a"], {}),
        ({"type": "array", "items": _TEXT, "x-kubernetes-list-type": "set"}, ["a"], {'v:"a"': {}}),
        ({"type": "array", "items": _TEXT, "x-kubernetes-patch-strategy": "merge"}, ["a"], {'v:"a"': {}}),
        ({"type": "array", "items": _TEXT, "x-kubernetes-patch-strategy": "retainKeys"}, ["a"], {}),
        (
            {"type": "array", "items": _ITEM, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "id"]},
            [{"id": "a"}],
            {'k:{"id":"a","port":80}': {".": {}, "f:id": {}}},
        ),
        (
            {"type": "array", "items": _ITEM, "x-kubernetes-patch-strategy": "merge,retainKeys", "x-kubernetes-patch-merge-key": "id"},
            [{"id": "a"}],
            {'k:{"id":"a"}': {".": {}, "f:id": {}}},
        ),
        ({"type": "object", "additionalProperties": _TEXT}, {"a": "b"}, {"f:a": {}}),
        ({"type": "object", "additionalProperties": _TEXT, "x-kubernetes-map-type": "atomic"}, {"a": "b"}, {}),
        ({"type": "object"}, {"a": {"b": [1]}}, {"f:a": {".": {}, "f:b": {}}}),
        (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"a": _TEXT}},
            {"a": "x", "b": 1},
            {"f:a": {}, "f:b": {}},
        ),
        ({"x-kubernetes-preserve-unknown-fields": True}, {"a": 1}, {"f:a": {}}),
        ({"x-kubernetes-int-or-string": True}, "80", {}),
        ({"allOf": [{"$ref": "#/components/schemas/Part"}], "default": {}}, {"id": "a"}, {"f:id": {}}),
        ({"$ref": "#/components/schemas/Part"}, {"id": "a"}, {"f:id": {}}),
        ({"$ref": "#/components/schemas/Part", "x-kubernetes-map-type": "atomic"}, {"id": "a"}, {}),
    ],
)  # fmt: skip
def test_a_schema_says_what_is_owned(schema: dict[str, Any], value: Any, owned: dict[str, Any]) -> None:
    assert field_set({"x": value}, _thing({"x": schema}, Part=_ITEM)) == {"f:x": owned}


def test_status_belongs_to_its_subresource_where_there_is_one() -> None:
    assert [_thing({"status": _TEXT}, status=there).status for there in (True, False)] == [True, False]


def test_a_type_may_hold_itself() -> None:
    tree = {"type": "object", "properties": {"name": _TEXT, "child": {"$ref": "#/components/schemas/Tree"}}}
    thing = _thing({"tree": {"$ref": "#/components/schemas/Tree"}}, Tree=tree)
    value = {"tree": {"child": {"child": {"name": "deep"}}}}
    assert field_set(value, thing) == {"f:tree": {"f:child": {"f:child": {"f:name": {}}}}}


def test_a_kind_that_no_document_describes_is_unknown() -> None:
    assert read_openapi({}).get(Kind("example.com", "v1", "Thing")) is None


def test_tables_come_back_from_the_disk() -> None:
    read = Schemas.loads(recorded().dumps())
    value = {"spec": {"template": {"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}]}}}}
    found = read.get(Kind("apps", "v1", "Deployment"))
    assert found is not None
    assert field_set(value, found) == field_set(value, type_of("apps/v1", "Deployment"))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version":0,"tables":[]}', '{"version":1,"tables":[{}]}'])
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Schemas.loads(text)


def test_documents_are_joined() -> None:
    joined = Schemas.joined([recorded(), read_openapi(_document({}))])
    kinds = (Kind("example.com", "v1", "Thing"), Kind("apps", "v1", "Deployment"), Kind("", "v1", "Pod"))
    assert all(joined.get(kind) is not None for kind in kinds)


@pytest.mark.parametrize(("name", "go"), [("Deployment", True), ("Gadget", False)])
def test_built_in_kinds_are_read_into_go_types(name: str, go: bool) -> None:
    assert type_of({"Deployment": "apps/v1", "Gadget": "decision.example/v1"}[name], name).go is go


def test_metadata_of_a_custom_kind_is_read_into_go_types() -> None:
    assert type_of("decision.example/v1", "Gadget").fields["metadata"][1].go
