"""The shape of pod templates: the hand-written additions fit the generated table, and checks say what a user needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.kube import pod_template_schema
from grove_compiler.kube.pod_template_fields import FIELDS
from grove_compiler.kube.pod_template_schema import Definitions, struct_names, struct_schema
from grove_compiler.kube.structure import check

CASES = sorted((Path(__file__).parent / "cases").glob("hash-*.json"))
POD_SPEC = {"ref": "core/v1.PodSpec"}
SCALARS = {"string", "integer", "boolean", "quantity", "int-or-string", "time", "any"}


def findings(pod_spec: dict[str, Any]) -> list[Diagnostic]:
    return [finding for _, finding in check({"containers": [], **pod_spec}, POD_SPEC, Definitions())]


def of_container(container: dict[str, Any]) -> list[str]:
    """What is found in one container, as `path code`."""
    found = findings({"containers": [{"name": "a", **container}]})
    return [f"{finding.path.removeprefix('containers[0].')} {finding.code.removeprefix('schema/')}" for finding in found]


def references(schema: dict[str, Any]) -> set[str]:
    inner = [schema[key] for key in ("items", "values") if key in schema]
    return {schema["ref"]} if "ref" in schema else set().union(*map(references, [*schema.get("fields", {}).values(), *inner]))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_pod_specs_that_kubernetes_stored_have_no_findings(path: Path) -> None:
    for clique in json.loads(path.read_text(encoding="utf-8"))["cliques"]:
        assert findings(clique["podSpec"]) == []


@pytest.mark.parametrize("name", struct_names())
def test_every_struct_refers_only_to_structs_that_exist(name: str) -> None:
    assert references(Definitions()[name]) <= set(struct_names())


@pytest.mark.parametrize("struct", pod_template_schema._REQUIRED)
def test_every_required_field_exists(struct: str) -> None:
    schema = struct_schema(struct)
    assert set(schema["required"]) <= set(schema["fields"])


@pytest.mark.parametrize(("struct", "field"), pod_template_schema._KEYS)
def test_every_list_map_has_keys_that_its_items_have(struct: str, field: str) -> None:
    schema = struct_schema(struct)["fields"][field]
    assert set(schema["keys"]) <= set(Definitions()[schema["items"]["ref"]]["fields"])


@pytest.mark.parametrize(("struct", "field"), pod_template_schema._ENUMS)
def test_every_enum_belongs_to_a_field(struct: str, field: str) -> None:
    assert struct_schema(struct)["fields"][field]["open"]


def test_an_ephemeral_container_s_lists_have_the_keys_of_a_container_s() -> None:
    assert struct_schema("v1.EphemeralContainer")["fields"]["env"] == struct_schema("v1.Container")["fields"]["env"]


def test_the_fields_of_an_inlined_struct_stand_among_their_owner_s() -> None:
    assert {"name", "emptyDir", "configMap"} <= set(struct_schema("v1.Volume")["fields"])


def test_one_s_own_definitions_come_first() -> None:
    definitions = Definitions({"core/v1.PodSpec": {"kind": "any"}})
    assert check(5, POD_SPEC, definitions) == []


@pytest.mark.parametrize("name", ["Clique", "core/v1.NoSuchStruct"])
def test_a_definition_that_does_not_exist_is_a_key_error(name: str) -> None:
    with pytest.raises(KeyError):
        Definitions()[name]


def test_every_kind_of_the_table_is_one_that_the_checker_knows() -> None:
    kinds = {field["kind"] for struct in FIELDS for field in struct_schema(struct)["fields"].values() if "kind" in field}
    assert kinds <= SCALARS | {"list", "map"}


@pytest.mark.parametrize(
    ("container", "found"),
    [
        ({"resources": {"limits": {"nvidia.com/gpu": 8, "memory": "1Gi", "cpu": 0.5}}}, []),
        ({"resources": {"limits": {"memory": "1gb"}}}, ["resources.limits.memory quantity"]),
        ({"env": [{"name": "A", "value": 1}]}, ["env[0].value wrong-type"]),
        ({"env": [{"name": "A"}, {"name": "A"}]}, ["env[1] duplicate-item"]),
        ({"ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]}, ["ports[1] duplicate-item"]),
        ({"ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]}, []),
        ({"ports": [{"containerPort": "80"}]}, ["ports[0].containerPort wrong-type"]),
        ({"livenessProbe": {"httpGet": {"path": "/"}}}, ["livenessProbe.httpGet.port required"]),
        ({"volumeMounts": [{"name": "a"}]}, ["volumeMounts[0].mountPath required"]),
        ({"command": "run"}, ["command wrong-type"]),
        ({"resources": {"claims": [{"name": "a"}, {"name": "a"}]}}, ["resources.claims[1] duplicate-item"]),
    ],
)
def test_a_container_is_checked_as_the_api_server_would(container: dict[str, Any], found: list[str]) -> None:
    assert of_container(container) == found


def test_a_pod_without_containers_is_wrong() -> None:
    assert [finding.path for _, finding in check({}, POD_SPEC, Definitions())] == ["containers"]


def test_a_container_without_a_name_is_wrong() -> None:
    assert [finding.path for finding in findings({"containers": [{}]})] == ["containers[0].name"]


def test_an_unknown_field_is_a_warning_with_the_field_that_was_meant() -> None:
    finding = findings({"containers": [{"name": "a", "volumeMount": []}]})[0]
    assert (finding.severity, finding.nearest) == ("warning", "volumeMounts")


def test_an_unknown_enum_value_is_a_warning_that_lists_the_known_ones() -> None:
    finding = findings({"restartPolicy": "always"})[0]
    assert (finding.severity, finding.nearest) == ("warning", "Always")
    assert finding.message == 'must be one of Always, OnFailure, Never, not "always"'


def test_an_empty_enum_value_means_the_default() -> None:
    assert findings({"restartPolicy": ""}) == []
