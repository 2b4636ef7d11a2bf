from __future__ import annotations

import copy
from functools import cache
from typing import Any

from grove_compiler.api.crd import crds
from grove_compiler.api.openapi import DURATION, QUANTITY
from grove_compiler.api.tables import STORED, key
from tests.suite.rows import rows

from .structural_crd import PRESERVE, accepts, faults, nodes, schema_of

KINDS = [key(model)[1] for model in STORED]


@cache
def made() -> dict[str, Any]:
    """Returns the CRDs by kind."""
    return {crd["spec"]["names"]["kind"]: crd for crd in crds()}


@rows("kind", KINDS)
def test_the_schema_is_structural(kind: str) -> None:
    assert faults(schema_of(made()[kind])) == []


ROT = {
    "a node without a type": ({"properties": {"a": {}}, "type": "object"}, ".a: no type"),
    "a reference": ({"type": "object", "$ref": "#/x"}, ".: $ref is not allowed"),
    "a choice of types": ({"anyOf": [{"type": "string"}], "type": "string"}, ".: anyOf only for int-or-string"),
    "a list without items": ({"type": "array"}, ".: arrays, and only they, have items"),
    "a required field that is none": ({"type": "object", "required": ["b"]}, ".: required b is no property"),
    "a default of a wrong type": ({"type": "integer", "default": "1"}, ".: default '1' is not valid"),
    "a default outside the enum": ({"type": "string", "enum": ["a"], "default": "b"}, ".: default 'b' is not valid"),
    "a default below the minimum": ({"type": "integer", "minimum": 1, "default": 0}, ".: default 0 is not valid"),
    "a default with an unknown field": ({"type": "object", "default": {"a": 1}}, ".: default {'a': 1} is not valid"),
    "a list-map key that may be absent": (
        {
            "type": "array",
            "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        ".: key name is neither required nor defaulted",
    ),
    "a list-map key that is no field": (
        {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        ".: key name is no scalar property",
    ),
    "a rule about no field": (
        {"type": "object", "x-kubernetes-validations": [{"rule": "true", "message": "m", "fieldPath": ".a"}]},
        ".: fieldPath .a leads nowhere",
    ),
    "a transition rule that never runs on creation": (
        {"type": "object", "x-kubernetes-validations": [{"rule": "oldSelf.hasValue()", "message": "m"}]},
        ".: oldSelf is not optional",
    ),
}


@rows(("schema", "fault"), ROT.values(), ids=ROT)
def test_the_check_sees(schema: dict[str, Any], fault: str) -> None:
    assert faults(schema) == [fault]


@rows("kind", KINDS)
def test_every_field_of_ours_has_a_description_of_one_line(kind: str) -> None:
    foreign = (".podSpec", ".metrics[]", ".templateSpec", ".apiVersion", ".kind", ".metadata")
    silent = [
        path
        for path, node in nodes(schema_of(made()[kind]))
        if not any(word in path for word in foreign)
        and not path.endswith(("[]", "{}"))
        and ("description" not in node or "\n" in node["description"])
    ]
    assert silent == []


@rows("kind", KINDS)
def test_unknown_fields_are_kept_in_kubernetes_own_types_only(kind: str) -> None:
    foreign = (".podSpec", ".metrics[]", ".templateSpec")
    kept = {path for path, node in nodes(schema_of(made()[kind])) if node.get(PRESERVE)}
    assert {path for path in kept if not any(word in path for word in foreign)} == set()


def test_a_pod_spec_keeps_a_field_that_kubernetes_has_yet_to_invent() -> None:
    spec = _pod_spec()
    assert accepts(spec, {"containers": [{"name": "a", "colour": "blue"}], "gravity": "low"})


def test_a_pod_spec_is_spelled_out_down_to_its_leaves() -> None:
    port = _pod_spec()["properties"]["containers"]["items"]["properties"]["livenessProbe"]["properties"]["httpGet"]["properties"]["port"]
    assert port == {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}


POD_LIST_MAPS = {
    "containers": ["name"],
    "initContainers": ["name"],
    "ephemeralContainers": ["name"],
    "volumes": ["name"],
    "resourceClaims": ["name"],
    "schedulingGates": ["name"],
    "topologySpreadConstraints": ["topologyKey", "whenUnsatisfiable"],
    "containers[].volumeMounts": ["mountPath"],
    "containers[].volumeDevices": ["devicePath"],
    "containers[].resources.claims": ["name"],
}


@rows(("path", "keys"), POD_LIST_MAPS.items(), ids=POD_LIST_MAPS)
def test_lists_of_a_pod_spec_merge_by_key(path: str, keys: list[str]) -> None:
    found = dict(nodes(_pod_spec()))[f".{path}"]
    assert (found["x-kubernetes-list-type"], found["x-kubernetes-list-map-keys"]) == ("map", keys)


def test_enums_that_kubernetes_may_extend_do_not_bind() -> None:
    assert "enum" not in _pod_spec()["properties"]["restartPolicy"]


def test_a_selector_is_replaced_as_a_whole_by_server_side_apply() -> None:
    found = {path for path, node in nodes(_pod_spec()) if node.get("x-kubernetes-map-type") == "atomic"}
    assert ".topologySpreadConstraints[].labelSelector" in found


@rows("text", ["4h", "0", "1h30m", "-1.5h", "300ms", ".5s", "+2us", "1µs"])
def test_the_pattern_of_durations_takes(text: str) -> None:
    assert accepts({"type": "string", "pattern": DURATION}, text)


@rows("text", ["", "4", "4 h", "1d", "h", "1h30", "-", ".s"])
def test_the_pattern_of_durations_refuses(text: str) -> None:
    assert not accepts({"type": "string", "pattern": DURATION}, text)


@rows(("text", "valid"), [("8", True), ("500m", True), ("1.5Gi", True), ("1e3", True), ("8 Gi", False), ("G", False)])
def test_the_pattern_of_quantities(text: str, valid: bool) -> None:
    assert accepts({"type": "string", "pattern": QUANTITY}, text) == valid


def test_each_call_makes_manifests_that_nobody_else_holds() -> None:
    first = crds()
    untouched = copy.deepcopy(first)
    _empty(first)
    assert crds() == untouched


def _empty(value: Any) -> None:
    """Takes everything out of a value, from the innermost containers to itself."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _empty(item)
        value.clear()


def _pod_spec() -> dict[str, Any]:
    found: dict[str, Any] = dict(nodes(schema_of(made()["PodClique"])))[".spec.podSpec"]
    return found
