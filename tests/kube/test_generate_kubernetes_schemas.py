"""The tables of Kubernetes' kinds are what the API server of the tests tells about them."""

from __future__ import annotations

from typing import Any

import pytest

from applier.testing.control_plane import ControlPlane
from grove_compiler.kube.tables import read_table
from tests.suite.rows import rows
from tools.generate_kubernetes_schemas import GROUPS, short, tables, value


@pytest.mark.cluster
@pytest.mark.served_since("1.35", "what our tables have")
def test_the_committed_tables_are_what_the_server_tells(control_plane: ControlPlane) -> None:
    told = tables({path: control_plane.request("GET", f"/openapi/v3/{path}") for path in GROUPS})
    assert {group: read_table(f"schemas/{group.replace('/', '_')}") for group in told} == told


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("io.k8s.api.core.v1.PodSpec", "core/v1.PodSpec"),
        ("io.k8s.api.rbac.v1.Role", "rbac.authorization.k8s.io/v1.Role"),
        ("io.k8s.api.resource.v1beta1.Device", "resource.k8s.io/v1beta1.Device"),
        ("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "meta/v1.ObjectMeta"),
    ],
)
def test_types_are_named_by_their_group_as_manifests_write_it(name: str, expected: str) -> None:
    assert short(name) == expected


FIELDS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"type": "string"}, {"kind": "string"}),
    ({"type": "string", "enum": ["TCP", "UDP"]}, {"kind": "string", "enum": ["", "TCP", "UDP"], "open": True}),
    ({"type": "integer", "format": "int32"}, {"kind": "integer", "bits": 32}),
    ({"type": "object", "additionalProperties": {"type": "string"}}, {"kind": "map", "values": {"kind": "string"}}),
    (
        {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        {"kind": "list", "items": {"kind": "string"}, "set": True},
    ),
    ({"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}], "default": {}}, {"kind": "quantity"}),
]


@rows(("schema", "expected"), FIELDS, ids=[str(expected) for _, expected in FIELDS])
def test_a_field_has_the_words_of_the_structural_check(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert value(schema, []) == expected


def test_a_field_of_another_type_refers_to_it_and_asks_for_its_table() -> None:
    below: list[str] = []
    name = "io.k8s.api.core.v1.Affinity"
    assert value({"$ref": f"#/components/schemas/{name}"}, below) == {"ref": "core/v1.Affinity"}
    assert below == [name]
