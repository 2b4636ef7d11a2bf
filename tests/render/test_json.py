"""`-o json`: the graph for programs."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grove_cli.render.as_json import FORMAT, as_json
from grove_compiler.graph.graph import CompiledGraph
from tests.graph.dependencies import with_dependencies

from .sample import HOST, RACK, node, picture, workload

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "graph.md"


def graph_of(graph: CompiledGraph | None = None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(as_json(picture(graph)))
    return found


def entry(list: str, id: str, graph: CompiledGraph | None = None) -> dict[str, Any]:
    (found,) = (each for each in graph_of(graph)[list] if each["id"] == id)
    return dict(found)


def test_the_format_has_a_number() -> None:
    assert graph_of()["format"] == FORMAT == 1


def test_every_object_is_a_node_in_apply_order() -> None:
    graph = workload(replicas=2)
    assert [each["id"] for each in graph_of(graph)["nodes"]] == ["PodCliqueSet/ml/demo", *(each.id for each in graph.nodes)]


def test_a_node_says_what_it_is_and_where_it_belongs() -> None:
    assert entry("nodes", "Pod/ml/demo-0-model-0-worker-00001") == {
        "id": "Pod/ml/demo-0-model-0-worker-00001",
        "kind": "Pod",
        "name": "demo-0-model-0-worker-00001",
        "level": 4,
        "namespace": "ml",
        "rule": "pod/clique",
        "owner": "PodClique/ml/demo-0-model-0-worker",
        "gang": "PodGang/ml/demo-0",
        "domains": [
            "PodGang/ml/demo-0/gang/demo-0",
            "PodGang/ml/demo-0/scaling group/demo-0-model-0",
            "PodGang/ml/demo-0/clique/demo-0-model-0-worker",
            "ComputeDomain/ml/demo-0-cd",
        ],
    }


def test_what_was_declared_has_neither_level_nor_rule() -> None:
    declared = {"id": "PodCliqueSet/ml/demo", "kind": "PodCliqueSet", "name": "demo", "namespace": "ml"}
    assert entry("nodes", "PodCliqueSet/ml/demo") == declared


def test_the_pairs_of_all_edges_are_those_of_the_graph() -> None:
    graph = workload(replicas=2, members=3)
    found = {pair for edge in graph_of(graph)["edges"] for pair in product(edge["from"], edge["to"]) if "PodCliqueSet/ml/demo" not in pair}
    assert found == {(before.id, later.id) for later, befores in with_dependencies(graph) for before in befores}


def test_an_edge_of_type_owner_agrees_with_its_nodes() -> None:
    found = graph_of()
    owners = {owned: edge["from"] for edge in found["edges"] if edge["type"] == "owner" for owned in edge["to"]}
    assert owners == {each["id"]: [each["owner"]] for each in found["nodes"] if "owner" in each}


def test_domains_say_what_holds_whom() -> None:
    assert entry("domains", "PodGang/ml/demo-0/gang/demo-0") | {"members": []} == {
        "id": "PodGang/ml/demo-0/gang/demo-0",
        "type": "topology",
        "name": "demo-0",
        "required": RACK,
        "preferred": HOST,
        "scope": "gang",
        "gang": "PodGang/ml/demo-0",
        "members": [],
    }
    assert entry("domains", "ComputeDomain/ml/demo-0-cd")["type"] == "mnnvl"


def test_members_and_nodes_agree() -> None:
    found = graph_of()
    by_domain = {(domain["id"], member) for domain in found["domains"] for member in domain["members"]}
    assert by_domain == {(domain, each["id"]) for each in found["nodes"] for domain in each.get("domains", [])}


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_name_survives(name: str) -> None:
    assert graph_of(CompiledGraph([node("Service", name)], {}))["nodes"][1]["name"] == name


def test_the_documentation_names_every_field() -> None:
    found = graph_of()
    fields = {*found, *(key for list in ("nodes", "edges", "domains") for each in found[list] for key in each)}
    text = DOCUMENTATION.read_text()
    assert {field for field in fields if f"`{field}`" not in text} == set()
