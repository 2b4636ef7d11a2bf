"""The tables of Kubernetes' kinds hold together, and what they say about pod templates is what a user needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.kube import definitions
from grove_compiler.kube.definitions import DEFINITIONS, Definitions
from grove_compiler.kube.structure import check
from tests.suite.rows import rows

CASES = sorted((Path(__file__).parent / "cases").glob("hash-*.json"))
POD_SPEC = {"ref": "core/v1.PodSpec"}
SCALARS = {"string", "integer", "number", "boolean", "quantity", "int-or-string", "time", "duration", "any"}


def findings(pod_spec: dict[str, Any]) -> list[Diagnostic]:
    return [finding for _, finding in check({"containers": [], **pod_spec}, POD_SPEC, Definitions())]


def of_container(container: dict[str, Any]) -> list[str]:
    """What is found in one container, as `path code`."""
    found = findings({"containers": [{"name": "a", **container}]})
    return [f"{finding.path.removeprefix('containers[0].')} {finding.code.removeprefix('schema/')}" for finding in found]


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema and those of its items and values."""
    yield schema
    for below in ("items", "values"):
        if below in schema:
            yield from nodes(schema[below])


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_pod_specs_that_kubernetes_stored_have_no_findings(path: Path) -> None:
    for clique in json.loads(path.read_text(encoding="utf-8"))["cliques"]:
        assert findings(clique["podSpec"]) == []


def test_the_fields_of_an_inlined_struct_stand_among_their_owner_s() -> None:
    assert {"name", "emptyDir", "configMap"} <= set(DEFINITIONS["core/v1.Volume"]["fields"])


def test_one_s_own_definitions_come_first() -> None:
    assert check(5, POD_SPEC, Definitions({"core/v1.PodSpec": {"kind": "any"}})) == []


@pytest.mark.parametrize("name", ["Clique", "core/v1.NoSuchStruct"])
def test_a_definition_that_does_not_exist_is_a_key_error(name: str) -> None:
    with pytest.raises(KeyError):
        Definitions()[name]


TABLES = sorted(Path(definitions.__file__).parent.glob("schemas/*.json"))


@rows("path", TABLES, ids=lambda path: path.stem)
def test_every_reference_of_a_table_leads_to_a_type_and_every_key_to_a_field(path: Path) -> None:
    for name, schema in json.loads(path.read_text(encoding="utf-8")).items():
        assert set(schema.get("required", ())) <= set(schema["fields"]), name
        for field in schema["fields"].values():
            for inner in nodes(field):
                if "ref" in inner:
                    assert DEFINITIONS[inner["ref"]]["kind"] == "object", name
                else:
                    assert inner["kind"] in SCALARS | {"list", "map", "object"}, name
                if "keys" in inner:
                    assert set(inner["keys"]) <= set(DEFINITIONS[inner["items"]["ref"]]["fields"]), name


@rows(
    ("container", "found"),
    [
        ({"resources": {"limits": {"nvidia.com/gpu": 8, "memory": "1Gi", "cpu": "0.5"}}}, []),
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


def test_an_unknown_enum_value_comes_with_the_known_ones() -> None:
    finding = findings({"restartPolicy": "always"})[0]
    assert (finding.severity, finding.nearest) == ("error", "Always")
    assert finding.message == 'must be one of Always, Never, OnFailure, not "always"'


def test_an_empty_enum_value_means_the_default() -> None:
    assert findings({"restartPolicy": ""}) == []
