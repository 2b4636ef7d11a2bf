from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from grove_compiler.api.tables import documents
from grove_compiler.kube.definitions import DEFINITIONS, KINDS, Definitions
from grove_compiler.kube.structure import check
from grove_compiler.kube.tables import read_table
from grove_compiler.preflight import VALUES_SCHEMA
from tests.suite.rows import rows

from .manifests import SET

made = cache(documents)


@rows("group", made)
def test_the_committed_table_is_what_the_models_generate(group: str) -> None:
    assert read_table(f"schemas/{group.replace('/', '_')}") == made()[group], "run `python -m tools.generate_grove_schema`"


def test_a_start_reads_only_the_tables_that_sets_need() -> None:
    fresh = Definitions()
    assert check(SET, KINDS["grove.io/v1alpha1", "PodCliqueSet"], fresh) == []
    assert {name.rpartition(".")[0] for name in fresh} == {"grove.io/v1alpha1", "core/v1"}


def test_the_compile_path_needs_no_pydantic() -> None:
    code = "import sys, grove_compiler.kube.definitions, grove_compiler.kube.defaults; print('pydantic' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_there_is_a_table_for_every_kind_that_is_read() -> None:
    assert list(KINDS) == [
        ("grove.io/v1alpha1", "PodCliqueSet"),
        ("grove.io/v1alpha1", "PodClique"),
        ("grove.io/v1alpha1", "PodCliqueScalingGroup"),
        ("grove.io/v1alpha1", "ClusterTopologyBinding"),
        ("grove.io/v1alpha1", "ClusterTopology"),
        ("scheduler.grove.io/v1alpha1", "PodGang"),
        ("operator.config.grove.io/v1alpha1", "OperatorConfiguration"),
        ("resource.k8s.io/v1", "ResourceClaimTemplate"),
        ("resource.k8s.io/v1beta2", "ResourceClaimTemplate"),
        ("resource.k8s.io/v1beta1", "ResourceClaimTemplate"),
    ]


def below(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas directly inside of this one."""
    yield from schema.get("fields", {}).values()
    yield from (schema[name] for name in ("items", "values") if name in schema)


def reachable(schema: dict[str, Any], seen: set[str]) -> Iterator[dict[str, Any]]:
    """All schemas that a check may come to; KeyError for a reference that leads nowhere."""
    yield schema
    if "ref" in schema and schema["ref"] not in seen:
        seen.add(schema["ref"])
        yield from reachable(DEFINITIONS[schema["ref"]], seen)
    for inner in below(schema):
        yield from reachable(inner, seen)


@rows("kind", KINDS, ids="/".join)
def test_every_reference_leads_to_a_definition_and_every_node_has_a_kind(kind: tuple[str, str]) -> None:
    odd = [schema for schema in reachable(KINDS[kind], set()) if "kind" not in schema and "ref" not in schema]
    assert odd == []


def test_no_definition_is_unused() -> None:
    seen: set[str] = set()
    for schema in (*KINDS.values(), VALUES_SCHEMA):
        list(reachable(schema, seen))
    seen.add(VALUES_SCHEMA["ref"])
    assert {f"{group}.{type_}" for group, table in made().items() for type_ in table} - seen == set()


def test_what_only_crds_need_stays_out_of_the_module() -> None:
    for schema in KINDS.values():
        assert [node for node in reachable(schema, set()) if "doc" in node or "validations" in node] == []


def test_no_type_refers_to_itself_so_that_references_can_be_written_out() -> None:
    def deepest(schema: dict[str, Any], above: tuple[str, ...]) -> int:
        if "ref" in schema:
            assert schema["ref"] not in above
            return deepest(DEFINITIONS[schema["ref"]], (*above, schema["ref"]))
        return 1 + max((deepest(inner, above) for inner in below(schema)), default=0)

    assert max(deepest(schema, ()) for schema in KINDS.values()) < 25


def test_unknown_fields_are_errors_in_our_kinds_and_warnings_in_the_configuration() -> None:
    kinds = {name: DEFINITIONS[schema["ref"]].get("unknown", "error") for (_, name), schema in KINDS.items()}
    assert kinds.pop("ResourceClaimTemplate") == "warning"
    assert kinds.pop("OperatorConfiguration") == "warning"
    assert set(kinds.values()) == {"error"}


POD_TEMPLATE_DEFAULTS: dict[str, dict[str, Any]] = {
    "AzureDiskVolumeSource": {"fsType": "ext4", "readOnly": False},
    "ConfigMapEnvSource": {"name": ""},
    "ConfigMapKeySelector": {"name": ""},
    "ConfigMapProjection": {"name": ""},
    "ConfigMapVolumeSource": {"name": ""},
    "ContainerPort": {"protocol": "TCP"},
    "FileKeySelector": {"optional": False},
    "GRPCAction": {"service": ""},
    "ISCSIVolumeSource": {"iscsiInterface": "default"},
    "LocalObjectReference": {"name": ""},
    "RBDVolumeSource": {"keyring": "/etc/ceph/keyring", "pool": "rbd", "user": "admin"},
    "ScaleIOVolumeSource": {"fsType": "xfs", "storageMode": "ThinProvisioned"},
    "SecretEnvSource": {"name": ""},
    "SecretKeySelector": {"name": ""},
    "SecretProjection": {"name": ""},
}


def test_pod_templates_have_the_defaults_that_shipped_grove_s_crds_set() -> None:
    """Shipped semantics §6.1. Pods' own defaults such as dnsPolicy are not among them."""
    reached: set[str] = set()
    list(reachable({"ref": "core/v1.PodSpec"}, reached))
    fields = {name: DEFINITIONS[name]["fields"] for name in reached}
    defaults = {
        name.removeprefix("core/v1."): {field: schema["default"] for field, schema in fields[name].items() if "default" in schema}
        for name in reached
    }
    assert {name: values for name, values in defaults.items() if values} == POD_TEMPLATE_DEFAULTS


@pytest.mark.parametrize("name", ["core/v1.Nothing", "autoscaling/v2.Nothing", "resource.k8s.io/v1.Nothing", "grove.io/v1alpha1.Nothing"])
def test_a_definition_that_does_not_exist_is_a_key_error(name: str) -> None:
    with pytest.raises(KeyError, match="Nothing"):
        Definitions()[name]


def test_a_definition_is_made_once() -> None:
    definitions = Definitions()
    assert definitions["core/v1.ContainerPort"] is definitions["core/v1.ContainerPort"]
