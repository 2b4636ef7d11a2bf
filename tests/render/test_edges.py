"""What comes before what: complete, small, and without detours."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_cli.render.edges import Edge, edges_of, merge, startup_edges, transitive_reduction
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.node import Node
from tests.graph.dependencies import with_dependencies

from .sample import SET, node, picture, ref, workload

Pair = tuple[str, str]


def pairs(edges: Iterable[Edge], type: str = "") -> set[Pair]:
    return {pair for edge in edges if type in ("", edge.type) for pair in product(edge.sources, edge.targets)}


def order(graph: CompiledGraph) -> list[str]:
    return [each.id for each in graph.nodes]


def inside(graph: CompiledGraph, found: set[Pair]) -> set[Pair]:
    """Without the owners that are not in the graph."""
    known = set(order(graph))
    return {pair for pair in found if pair[0] in known}


def test_edges_are_those_of_the_graph() -> None:
    graph = workload(replicas=2, members=3)
    expected = {(before.id, later.id) for later, befores in with_dependencies(graph) for before in befores}
    assert inside(graph, pairs(edges_of(graph.nodes, graph.after))) == expected


def test_an_owner_outside_the_graph_has_an_edge_too() -> None:
    edges = edges_of([node("Service", "a"), node("Service", "b")], {})
    assert edges == [Edge("owner", ["PodCliqueSet/ml/demo"], ["Service/ml/a", "Service/ml/b"])]


def test_a_rule_that_waits_for_nothing_that_exists_has_no_edge() -> None:
    assert edges_of([node("Service", "a", "one", None)], {"one": [("two", 1)]}) == []


def test_objects_of_two_rules_are_joined_by_the_loops_that_they_share() -> None:
    nodes = [node("A", f"a{i}", "a", None, (0, i)) for i in range(2)] + [node("B", f"b{i}", "b", None, (0, i, 7)) for i in range(2)]
    assert edges_of(nodes, {"b": [("a", 2)]}) == [Edge("after", ["A/ml/a0"], ["B/ml/b0"]), Edge("after", ["A/ml/a1"], ["B/ml/b1"])]


def test_many_to_many_is_one_edge() -> None:
    nodes = [node("A", f"a{i}", "a", None) for i in range(50)] + [node("B", f"b{i}", "b", None) for i in range(50)]
    edges = edges_of(nodes, {"b": [("a", 1)]})
    assert [(len(edge.sources), len(edge.targets)) for edge in edges] == [(50, 50)]


def test_an_implied_edge_is_removed() -> None:
    edges = [Edge("after", ["a"], ["b"]), Edge("after", ["b"], ["c"]), Edge("after", ["a"], ["c"])]
    assert transitive_reduction(edges, ["a", "b", "c"]) == edges[:2]


def test_an_edge_implied_by_ownership_is_removed() -> None:
    edges = [Edge("owner", ["a"], ["b"]), Edge("after", ["a"], ["b"])]
    assert transitive_reduction(edges, ["a", "b"]) == edges[:1]


def test_an_owner_edge_stays_although_the_order_implies_it() -> None:
    edges = [Edge("owner", ["a"], ["c"]), Edge("after", ["a"], ["b"]), Edge("after", ["b"], ["c"])]
    assert transitive_reduction(edges, ["a", "b", "c"]) == edges


def test_an_edge_stays_unless_all_of_its_pairs_are_implied() -> None:
    edges = [Edge("after", ["a"], ["b"]), Edge("after", ["b"], ["c"]), Edge("after", ["a"], ["c", "d"])]
    assert transitive_reduction(edges, ["a", "b", "c", "d"]) == edges


def test_two_equal_edges_do_not_remove_each_other() -> None:
    edges = [Edge("after", ["a"], ["b"]), Edge("after", ["a"], ["b"])]
    assert pairs(transitive_reduction(edges, ["a", "b"])) == {("a", "b")}


def test_pods_of_the_sample_wait_only_for_their_gangs() -> None:
    graph = workload()
    kept = transitive_reduction(edges_of(graph.nodes, graph.after), [SET.id, *order(graph)])
    to_pods = [edge for edge in kept if edge.type == "after" and edge.targets[0].startswith("Pod/")]
    sources = {source.partition("/")[0] for edge in to_pods for source in edge.sources}
    assert sources == {"PodGang"}


def test_edges_with_the_same_targets_become_one() -> None:
    assert merge([Edge("after", ["a"], ["x", "y"]), Edge("after", ["b"], ["x", "y"])]) == [Edge("after", ["a", "b"], ["x", "y"])]


def test_edges_with_the_same_sources_become_one() -> None:
    assert merge([Edge("owner", ["a"], ["x"]), Edge("owner", ["a"], ["y"])]) == [Edge("owner", ["a"], ["x", "y"])]


def test_owners_and_order_are_not_mixed() -> None:
    edges = [Edge("owner", ["a"], ["x"]), Edge("after", ["a"], ["x"])]
    assert merge(edges) == edges


NAMES = "abcdefgh"


@st.composite
def acyclic(draw: st.DrawFn) -> list[Edge]:
    """Edges of many sources and targets that all lead from left to right; an object has at most one owner."""
    edges, owned = list[Edge](), set[str]()
    for _ in range(draw(st.integers(0, 8))):
        cut = draw(st.integers(1, len(NAMES) - 1))
        sources = draw(st.lists(st.sampled_from(NAMES[:cut]), min_size=1, unique=True))
        targets = draw(st.lists(st.sampled_from(NAMES[cut:]), min_size=1, unique=True))
        if draw(st.booleans()) and not owned & set(targets):
            owned |= set(targets)
            edges.append(Edge("owner", sources[:1], targets))
        else:
            edges.append(Edge("after", sources, targets))
    return edges


def closure(edges: Iterable[Edge]) -> set[Pair]:
    graph = nx.DiGraph(pairs(edges))
    return set(nx.transitive_closure_dag(graph).edges)


@given(acyclic())
def test_the_transitive_reduction_has_the_same_closure(edges: list[Edge]) -> None:
    assert closure(transitive_reduction(edges, NAMES)) == closure(edges)


@given(acyclic())
def test_no_remaining_edge_is_implied_by_the_others(edges: list[Edge]) -> None:
    kept = transitive_reduction(edges, NAMES)
    needed = set(nx.transitive_reduction(nx.DiGraph(pairs(edges))).edges)
    assert all(pairs([edge]) & needed for edge in kept if edge.type == "after")


@given(acyclic())
def test_merging_keeps_every_pair(edges: list[Edge]) -> None:
    for type in ("owner", "after"):
        assert pairs(merge(edges), type) == pairs(edges, type)


def test_a_large_set_has_few_edges_for_many_pairs() -> None:
    nodes: list[Node] = []
    for wave, rule in enumerate(("a", "b", "c")):
        nodes += [node(rule.upper(), f"{rule}{number}", rule, ref("PodCliqueSet", "demo"), (0, number)) for number in range(400 * wave + 1)]
    edges = edges_of(nodes, {"b": [("a", 1)], "c": [("a", 1), ("b", 1)]})
    assert len(pairs(edges)) > 300_000
    assert sum(len(edge.sources) + len(edge.targets) for edge in edges) < 4 * len(nodes)


def test_the_start_up_order_is_read_from_the_cliques() -> None:
    edges = startup_edges(workload(members=1).nodes)
    assert edges == [Edge("startup", ["PodClique/ml/demo-0-model-0-leader"], ["PodClique/ml/demo-0-model-0-worker"])]


@pytest.mark.parametrize("after", [None, [], "leader", {"a": 1}, ["gone"]])
def test_a_start_up_order_that_names_nothing_makes_no_edge(after: object) -> None:
    assert startup_edges([node("PodClique", "demo", spec={"startsAfter": after})]) == []


def test_the_start_up_order_stands_apart_from_the_order_of_objects() -> None:
    drawn = picture(workload(members=1))
    assert {edge.type for edge in drawn.edges} == {"owner", "after"}
    assert {edge.type for edge in drawn.startup} == {"startup"}
