"""Story 4 of GREP-244, H100 and GB200 in one cluster: what becomes of it, and what is wrong with what people get wrong about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from grove_compiler.compile import CompileResult, Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.engine.runtime.program import Program
from grove_compiler.source.document import Document

from .. import shipped

EXAMPLES = Path(__file__).parents[2] / "examples"
STORY = list(yaml.load_all((EXAMPLES / "topology-h100-gb200.yaml").read_text(), yaml.CSafeLoader))
CONFIGURATION = yaml.load((EXAMPLES / "operator-configuration.yaml").read_text(), yaml.CSafeLoader)
H100, GB200 = "llama-70b-h100", "llama-405b-gb200"


@pytest.fixture(scope="module")
def program() -> Program:
    return shipped.program()


def manifests(**fields: dict[str, Any]) -> list[Any]:
    """The example, where `name={field: value}` changes the template of a set, or its `levels`, or leaves the object out (`{}`)."""
    found = []
    for manifest in yaml.load_all((EXAMPLES / "topology-h100-gb200.yaml").read_text(), yaml.CSafeLoader):
        change = fields.get(manifest["metadata"]["name"].replace("-", "_"))
        if change == {}:
            continue
        for key, value in (change or {}).items():
            holder = manifest["spec"] if key == "levels" else manifest["spec"]["template"]
            holder[key] = value
        found.append(manifest)
    return found


def compiled(program: Program, given: list[Any], config: Any = CONFIGURATION) -> CompileResult:
    return compile_inputs(Inputs([Document(manifest) for manifest in given], config=Document(config)), program)


def findings(result: CompileResult) -> list[tuple[str, str]]:
    return [(finding.code, finding.path) for finding in result.diagnostics]


def objects(result: CompileResult, kind: str) -> dict[str, Any]:
    return {node.object["metadata"]["name"]: node.object for node in result.graph.nodes if node.object["kind"] == kind}


KEYS = [
    (H100, "topology.kubernetes.io/zone", ["kubernetes.io/rack", "kubernetes.io/rack"]),
    (GB200, "topology.kubernetes.io/zone", ["example.com/nvl-block", "example.com/nvlink-domain"]),
]


@pytest.mark.parametrize(("name", "whole", "parts"), KEYS)
def test_each_set_is_placed_by_the_labels_of_its_own_hardware(program: Program, name: str, whole: str, parts: list[str]) -> None:
    gang = objects(compiled(program, STORY), "PodGang")[f"{name}-0"]
    assert gang["spec"]["topologyConstraint"] == {"packConstraint": {"required": whole}}
    assert [group["topologyConstraint"]["packConstraint"]["required"] for group in gang["spec"]["podgroups"]] == parts


def test_kai_learns_each_topology_beside_the_default_one(program: Program) -> None:
    found = objects(compiled(program, STORY), "Topology")
    assert {name: [level["nodeLabel"] for level in one["spec"]["levels"]] for name, one in found.items()} == {
        "grove-topology": ["topology.kubernetes.io/zone", "topology.kubernetes.io/rack", "kubernetes.io/hostname"],
        "h100-topology": ["topology.kubernetes.io/zone", "kubernetes.io/rack", "kubernetes.io/hostname"],
        "gb200-topology": [
            "topology.kubernetes.io/zone",
            "example.com/nvl-block",
            "example.com/nvlink-domain",
            "kubernetes.io/hostname",
        ],
    }


NAME = "spec.template.clusterTopologyName"
NEGATIVE: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "the GB200 set with the topology of the H100 nodes": (
        {"llama_405b_gb200": {"clusterTopologyName": "h100-topology"}},
        [("validate/topology-domain", "spec.template.cliques[0].topologyConstraint.packDomain")],
    ),
    "the GB200 set without a name, so with the default topology": (
        {"llama_405b_gb200": {"clusterTopologyName": None}},
        [("validate/topology-domain", "spec.template.cliques[0].topologyConstraint.packDomain")],
    ),
    "a topology that is not there": ({"gb200_topology": {}}, [("validate/topology-found", NAME)]),
    "a replica in a rack whose prefill wants a block": (
        {"llama_405b_gb200": {"topologyConstraint": {"packDomain": "rack"}}},
        [("validate/topology-hierarchy", "spec.template.topologyConstraint")],
    ),
}


@pytest.mark.parametrize("mistake", NEGATIVE)
def test_a_mistake_is_found_before_anything_waits_for_nodes(program: Program, mistake: str) -> None:
    changes, expected = NEGATIVE[mistake]
    result = compiled(program, manifests(**changes))
    held = [one for one in result.subjects if one.hold]
    assert (findings(result), [one.nodes for one in held]) == (expected, [[]])


def test_a_name_without_any_constraint_is_a_mistake(program: Program) -> None:
    given = manifests(llama_70b_h100={"topologyConstraint": None})
    for clique in given[2]["spec"]["template"]["cliques"]:
        del clique["topologyConstraint"]
    assert findings(compiled(program, given)) == [("validate/cluster-topology-used", NAME)]


def test_with_topology_aware_scheduling_off_every_constraint_is_a_mistake(program: Program) -> None:
    off = {**CONFIGURATION, "topologyAwareScheduling": {"enabled": False}}
    found = findings(compiled(program, STORY, off))
    assert [path for code, path in found if code == "validate/topology-enabled"] == 2 * [
        "spec.template.topologyConstraint",
        "spec.template.cliques[0].topologyConstraint",
        "spec.template.cliques[1].topologyConstraint",
    ]
    assert [path for code, path in found if code != "validate/topology-enabled"] == [NAME, NAME]


def test_a_domain_that_both_have_means_the_labels_of_the_topology_that_is_named(program: Program) -> None:
    """The trap of one shared name: with the wrong topology the set compiles, for labels that no GB200 node has."""
    given = manifests(llama_405b_gb200={"clusterTopologyName": "h100-topology"})
    given[3]["spec"]["template"]["cliques"][0]["topologyConstraint"]["packDomain"] = "rack"
    gang = objects(compiled(program, given), "PodGang")[f"{GB200}-0"]
    assert {group["topologyConstraint"]["packConstraint"]["required"] for group in gang["spec"]["podgroups"]} == {"kubernetes.io/rack"}
