"""Levels in one pass: right where every object stands behind what it waits for, silent where one does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.graph.graph import Graph
from grove_compiler.graph.node import Node
from grove_compiler.graph.straight import straight_levels
from tests.graph.test_graph import CYCLES, graphs, node, oracle

RULES = ["r0", "r1", "r2", "r3"]


@st.composite
def ordered_graphs(draw: st.DrawFn) -> Graph:
    """Objects of rules that wait only for earlier rules, in apply order; owners are of earlier rules."""
    after = {
        rule: [(other, draw(st.integers(0, 2))) for other in RULES[:number] if draw(st.booleans())] for number, rule in enumerate(RULES)
    }
    nodes: list[Node] = []
    for rule in RULES:
        known = [each.object["metadata"]["name"] for each in nodes]
        for loop in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), unique=True, max_size=5).map(sorted)):
            owner = draw(st.sampled_from(["", "elsewhere", *known]))
            nodes.append(node(f"{rule}-{loop[0]}{loop[1]}", rule, loop, owner))
    return Graph(nodes, after)


@given(ordered_graphs())
def test_in_apply_order_one_pass_finds_the_topological_generations(graph: Graph) -> None:
    levels = straight_levels(graph.nodes, graph.after)
    assert levels is not None
    expected = {name: number for number, names in enumerate(networkx.topological_generations(oracle(graph))) for name in names}
    assert {each.id: level for each, level in zip(graph.nodes, levels, strict=True)} == expected


@given(graphs())
def test_in_any_order_one_pass_is_right_or_silent(graph: Graph) -> None:
    levels = straight_levels(graph.nodes, graph.after)
    expected = {name: number for number, names in enumerate(networkx.topological_generations(oracle(graph))) for name in names}
    assert levels is None or {each.id: level for each, level in zip(graph.nodes, levels, strict=True)} == expected


@pytest.mark.parametrize(("nodes", "after"), [case[:2] for case in CYCLES.values()], ids=CYCLES.keys())
def test_a_cycle_leaves_it_silent(nodes: list[Node], after: Mapping[str, Sequence[tuple[str, int]]]) -> None:
    assert straight_levels(nodes, after) is None


OUT_OF_ORDER = {
    "an owner that comes later": ([node("a", owner="b"), node("b")], {}),
    "a rule that comes later": ([node("a", "second"), node("b", "first")], {"second": [("first", 0)]}),
    "one object of a rule that comes later": (
        [node("a", "first"), node("b", "second"), node("c", "first")],
        {"second": [("first", 0)]},
    ),
    "two owners of one name": ([node("b"), node("b"), node("a", owner="b")], {}),
}


@pytest.mark.parametrize(("nodes", "after"), OUT_OF_ORDER.values(), ids=OUT_OF_ORDER.keys())
def test_what_one_pass_cannot_know_leaves_it_silent(nodes: list[Node], after: Mapping[str, Sequence[tuple[str, int]]]) -> None:
    assert straight_levels(nodes, after) is None


def test_a_rule_without_objects_is_not_waited_for() -> None:
    assert straight_levels([node("a", "second")], {"second": [("first", 0)]}) == [0]


def test_an_owner_of_another_group_holds_nothing_up() -> None:
    assert straight_levels([node("a", owner="b"), node("b", api="example.com/v1")], {}) == [0, 0]
