from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.api.python_literal import WIDTH, literal
from grove_compiler.api.tables import modules
from grove_compiler.kube import grove_schema, operator_config_schema, scheduler_schema
from grove_compiler.kube.definitions import POD_TEMPLATE_DEFAULTS, KubernetesDefinitions
from grove_compiler.kube.grove_schema import DEFINITIONS, KINDS

FOLDER = Path(grove_schema.__file__).parent
MODULES = modules()


@pytest.mark.parametrize("name", MODULES)
def test_the_committed_module_is_what_the_models_generate(name: str) -> None:
    assert (FOLDER / f"{name}.py").read_text(encoding="utf-8") == MODULES[name], "run `python tools/generate_grove_schema.py`"


def test_a_start_loads_only_the_tables_that_sets_need() -> None:
    code = "import sys, grove_compiler.kube.grove_schema; print(*(name for name in sys.modules if name.endswith('_schema')))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.rpartition(".")[2] for name in ran.stdout.split()} == {"grove_schema", "pod_template_schema"}


def test_the_compile_path_needs_no_pydantic() -> None:
    code = "import sys, grove_compiler.kube.grove_schema, grove_compiler.kube.defaults; print('pydantic' in sys.modules)"
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


@pytest.mark.parametrize("kind", KINDS, ids="/".join)
def test_every_reference_leads_to_a_definition_and_every_node_has_a_kind(kind: tuple[str, str]) -> None:
    odd = [schema for schema in reachable(KINDS[kind], set()) if "kind" not in schema and "ref" not in schema]
    assert odd == []


def test_no_definition_is_unused() -> None:
    seen: set[str] = set()
    for schema in KINDS.values():
        list(reachable(schema, seen))
    ours = {**DEFINITIONS, **operator_config_schema.DEFINITIONS, **scheduler_schema.DEFINITIONS}
    assert set(ours) - seen == set()


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
    kinds = {kind: schema.get("unknown", "error") for (_, kind), schema in KINDS.items() if "ref" not in schema}
    assert kinds.pop("OperatorConfiguration") == "warning"
    assert set(kinds.values()) == {"error"}


@pytest.mark.parametrize("name", POD_TEMPLATE_DEFAULTS)
def test_defaults_of_pod_templates_are_in_the_definitions(name: str) -> None:
    fields = KubernetesDefinitions()[name]["fields"]
    assert {field: schema["default"] for field, schema in fields.items() if "default" in schema} == POD_TEMPLATE_DEFAULTS[name]


@pytest.mark.parametrize("name", ["core/v1.Nothing", "autoscaling/v2.Nothing", "resource.k8s.io/v1.Nothing", "grove.io/v1alpha1.Nothing"])
def test_a_definition_that_does_not_exist_is_a_key_error(name: str) -> None:
    with pytest.raises(KeyError, match="Nothing"):
        KubernetesDefinitions()[name]


def test_a_definition_is_made_once() -> None:
    definitions = KubernetesDefinitions()
    assert definitions["core/v1.ContainerPort"] is definitions["core/v1.ContainerPort"]


scalars = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.tuples(st.text(), st.text()), inner))


@given(values)
def test_a_literal_reads_back_as_the_value(value: Any) -> None:
    assert ast.literal_eval(literal(value)) == value


def test_a_map_opens_with_the_only_one_in_it_and_has_an_item_a_line() -> None:
    fields = {name * 40: {"kind": "string"} for name in "abc"}
    first, *items, last = literal({"kind": "object", "fields": fields, "unknown": "warning"}).split("\n")
    assert (first, last) == ('{"kind": "object", "fields": {', '}, "unknown": "warning"}')
    assert items == [f'    "{name}": {{"kind": "string"}},' for name in fields]


@given(values)
def test_what_fits_on_a_line_stands_on_one(value: Any) -> None:
    text = literal(value)
    assert "\n" not in text or len(repr(value)) > WIDTH / 2
