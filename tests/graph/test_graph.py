"""What waits for what: edges, waves, cycles, and objects of one name."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import pairwise

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.node import Node, ObjectRef
from grove_compiler.graph.order import GraphCycle
from tests.graph.dependencies import with_dependencies


def node(name: str, rule: str = "a", loop: tuple[int, ...] = (), owner: str = "", api: str = "v1") -> Node:
    manifest = {"apiVersion": api, "kind": "Thing", "metadata": {"name": name}}
    return Node(f"Thing/{name}", manifest, rule, loop, ObjectRef("v1", "Thing", "", owner) if owner else None, {})


def names(nodes: Sequence[Node]) -> list[str]:
    return [each.object["metadata"]["name"] for each in nodes]


def edges(graph: CompiledGraph) -> list[tuple[Node, Node]]:
    """Every pair of an object and one that must be there before it."""
    return [(each, before) for each, dependencies in with_dependencies(graph) for before in dependencies]


def waves(nodes: list[Node], after: Mapping[str, Sequence[tuple[str, int]]] | None = None) -> list[list[str]]:
    return [names(level) for level in CompiledGraph(nodes, after or {}).levels()]


def test_an_empty_graph_has_no_waves() -> None:
    assert waves([]) == []


def test_objects_that_wait_for_nothing_are_one_wave_in_their_order() -> None:
    assert waves([node("c"), node("a"), node("b")]) == [["c", "a", "b"]]


def test_an_owner_comes_first_wherever_it_stands() -> None:
    assert waves([node("a", owner="b"), node("b", owner="c"), node("c")]) == [["c"], ["b"], ["a"]]


def test_an_owner_outside_the_graph_is_not_waited_for() -> None:
    assert waves([node("a", owner="elsewhere")]) == [["a"]]


def test_an_owner_of_another_group_is_not_the_owner() -> None:
    assert waves([node("a", owner="b"), node("b", api="example.com/v1")]) == [["a", "b"]]


def test_objects_wait_for_those_of_the_rule_before() -> None:
    assert waves([node("b", "second"), node("a", "first")], {"second": [("first", 0)]}) == [["a"], ["b"]]


JOINS = {
    "none shared": (0, [["x00", "x01", "x10"], ["y0", "y1"]], 6),
    "one shared": (1, [["x00", "x01", "x10"], ["y0", "y1"]], 3),
}


@pytest.mark.parametrize(("shared", "levels", "number"), JOINS.values(), ids=JOINS.keys())
def test_objects_wait_for_those_of_the_same_position_in_the_loops_that_are_shared(
    shared: int, levels: list[list[str]], number: int
) -> None:
    nodes = [node(f"x{i}{j}", "x", (i, j)) for i, j in ((0, 0), (0, 1), (1, 0))] + [node(f"y{i}", "y", (i,)) for i in range(2)]
    graph = CompiledGraph(nodes, {"y": [("x", shared)]})
    assert ([names(level) for level in graph.levels()], len(edges(graph))) == (levels, number)


def test_an_object_of_another_position_holds_nothing_up() -> None:
    nodes = [node("slow", "x", (0,), owner="root"), node("root", "r"), node("early", "y", (1,)), node("late", "y", (0,))]
    assert waves(nodes, {"y": [("x", 1)]}) == [["root", "early"], ["slow"], ["late"]]


def test_dependencies_hold_the_owner_first_and_each_object_once() -> None:
    graph = CompiledGraph([node("a", "first"), node("b", "first"), node("c", "second", owner="b")], {"second": [("first", 0)]})
    assert names(list(graph.dependencies(graph.nodes[2]))) == ["b", "a"]


def test_an_object_without_dependencies_has_none() -> None:
    graph = CompiledGraph([node("a")], {})
    assert list(graph.dependencies(graph.nodes[0])) == []


CYCLES = {
    "an owner of itself": ([node("a", owner="a")], {}, ["Thing/a", "Thing/a"]),
    "two owners": ([node("a", owner="b"), node("b", owner="a")], {}, ["Thing/a", "Thing/b", "Thing/a"]),
    "behind another": ([node("c", owner="a"), node("a", owner="b"), node("b", owner="a")], {}, ["Thing/a", "Thing/b", "Thing/a"]),
    "an owner and a rule": (
        [node("a", "first", owner="b"), node("b", "second")],
        {"second": [("first", 0)]},
        ["Thing/a", "Thing/b", "Thing/a"],
    ),
}


@pytest.mark.parametrize(("nodes", "after", "path"), CYCLES.values(), ids=CYCLES.keys())
def test_a_cycle_is_an_error_that_holds_its_path(
    nodes: list[Node], after: Mapping[str, Sequence[tuple[str, int]]], path: list[str]
) -> None:
    with pytest.raises(GraphCycle) as caught:
        CompiledGraph(nodes, after).levels()
    assert caught.value.path == path


def test_the_message_of_a_cycle_reads_as_a_path() -> None:
    with pytest.raises(GraphCycle, match="objects wait for each other: Thing/a -> Thing/b -> Thing/a"):
        waves([node("a", owner="b"), node("b", owner="a")])


def test_a_chain_of_ten_thousand_owners_is_no_recursion() -> None:
    nodes = [node(str(number), owner=str(number + 1)) for number in range(10_000)]
    assert len(waves(nodes)) == 10_000


def test_a_thousand_objects_that_wait_for_a_thousand_are_two_waves() -> None:
    nodes = [node(f"x{i}", "x") for i in range(1000)] + [node(f"y{i}", "y") for i in range(1000)]
    assert [len(level) for level in waves(nodes, {"y": [("x", 0)]})] == [1000, 1000]


RULES = ["r0", "r1", "r2", "r3"]


@st.composite
def graphs(draw: st.DrawFn) -> CompiledGraph:
    """Objects of up to four rules with loops of two, each rule after some former ones, in any order, some with owners."""
    after = {}
    for number, rule in enumerate(RULES):
        former = draw(st.lists(st.sampled_from(RULES[:number]), unique=True)) if number else []
        after[rule] = [(other, draw(st.integers(0, 2))) for other in former]
    nodes: list[Node] = []
    for number, rule in enumerate(RULES):
        for loop in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), unique=True, max_size=4)):
            known = [each.object["metadata"]["name"] for each in nodes if each.rule in RULES[:number]]
            owner = draw(st.sampled_from(["", *known]))
            nodes.append(node(f"{rule}-{loop[0]}{loop[1]}", rule, loop, owner))
    random.Random(draw(st.integers(0, 99))).shuffle(nodes)
    return CompiledGraph(nodes, after)


def oracle(graph: CompiledGraph) -> networkx.DiGraph:
    """The same graph for networkx, with every edge written out from the definition."""
    made = networkx.DiGraph()
    made.add_nodes_from(each.id for each in graph.nodes)
    for each in graph.nodes:
        for other in graph.nodes:
            joined = any(
                other.rule == rule and other.loop[:shared] == each.loop[:shared] for rule, shared in graph.after.get(each.rule, ())
            )
            if joined or (each.owner and each.owner.id == other.id):
                made.add_edge(other.id, each.id)
    return made


@given(graphs())
def test_edges_are_those_of_the_definition(graph: CompiledGraph) -> None:
    assert {(before.id, each.id) for each, before in edges(graph)} == set(oracle(graph).edges)


@given(graphs())
def test_groups_hold_the_same_edges(graph: CompiledGraph) -> None:
    for (each, owner, groups), (same, dependencies) in zip(graph.with_groups(), with_dependencies(graph), strict=True):
        alone = [] if owner is None else [owner]
        found = [*alone, *(graph.nodes[position] for group in groups for position in group)]
        assert (each, {other.id for other in found}) == (same, {other.id for other in dependencies})


def test_objects_that_wait_for_the_same_share_a_group() -> None:
    nodes = [node(f"x{i}", "x") for i in range(3)] + [node(f"y{i}", "y") for i in range(3)]
    groups = [group for _, _, groups in CompiledGraph(nodes, {"y": [("x", 0)]}).with_groups() for group in groups]
    assert (len(groups), len({id(group) for group in groups}), groups[0]) == (3, 1, [0, 1, 2])


@given(graphs())
def test_no_edge_is_given_twice(graph: CompiledGraph) -> None:
    pairs = [(each.id, before.id) for each, before in edges(graph)]
    assert len(pairs) == len(set(pairs))


@given(graphs())
def test_waves_are_the_topological_generations(graph: CompiledGraph) -> None:
    assert [{each.id for each in level} for level in graph.levels()] == [set(g) for g in networkx.topological_generations(oracle(graph))]


@given(graphs())
def test_objects_of_a_wave_keep_their_order(graph: CompiledGraph) -> None:
    order = {each.id: number for number, each in enumerate(graph.nodes)}
    assert all([order[each.id] for each in level] == sorted(order[each.id] for each in level) for level in graph.levels())


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=8, unique_by=lambda pair: pair[0]))
def test_a_cycle_is_found_exactly_when_there_is_one(owners: list[tuple[int, int]]) -> None:
    owner_of = dict(owners)
    nodes = [node(str(number), owner=str(owner_of[number]) if number in owner_of else "") for number in range(8)]
    cyclic = not networkx.is_directed_acyclic_graph(networkx.DiGraph(owners))
    try:
        waves(nodes)
    except GraphCycle as cycle:
        assert cyclic
        steps = [int(id.removeprefix("Thing/")) for id in cycle.path]
        assert steps[0] == steps[-1]
        assert all(owner_of[step] == following for step, following in pairwise(steps))
    else:
        assert not cyclic


# -- collisions ----------------------------------------------------------------------------------------------------------------------


def test_objects_of_different_names_do_not_collide() -> None:
    assert CompiledGraph([node("a"), node("b")], {}).collisions() == []


def test_two_objects_of_one_name_are_an_error_that_names_both_rules() -> None:
    ((_, _, found),) = CompiledGraph([node("a", "first"), node("a", "second")], {}).collisions()
    assert (found.code, found.severity, found.message) == (
        "graph/collision",
        "error",
        "two objects would have the name Thing/a: one from the rule first, one from second",
    )


def test_objects_of_one_name_and_different_groups_do_not_collide() -> None:
    assert CompiledGraph([node("a"), node("a", api="example.com/v1")], {}).collisions() == []


def test_versions_of_a_group_are_one_group() -> None:
    assert len(CompiledGraph([node("a", api="example.com/v1"), node("a", api="example.com/v2")], {}).collisions()) == 1


def test_a_collision_is_found_behind_an_object_of_another_group() -> None:
    nodes = [node("a"), node("a", api="example.com/v1"), node("a", api="example.com/v1")]
    assert len(CompiledGraph(nodes, {}).collisions()) == 1


def test_objects_of_one_name_and_different_groups_wait_each_for_their_own() -> None:
    nodes = [node("root"), node("a", owner="root"), node("a", "other", api="example.com/v1")]
    assert waves(nodes) == [["root", "a"], ["a"]]
