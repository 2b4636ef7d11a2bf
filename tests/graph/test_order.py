"""Levels of objects in apply order, and of those that are not."""

from __future__ import annotations

from unittest import mock

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.node import Node
from grove_compiler.graph.order import After, Order
from tests.graph.test_graph import node, oracle

RULES = ["r0", "r1", "r2", "r3"]


@st.composite
def ordered_graphs(draw: st.DrawFn) -> CompiledGraph:
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
    return CompiledGraph(nodes, after)


@given(ordered_graphs())
def test_in_apply_order_levels_are_the_topological_generations(graph: CompiledGraph) -> None:
    expected = {name: number for number, names in enumerate(networkx.topological_generations(oracle(graph))) for name in names}
    levels = Order(graph.nodes, graph.after).levels()
    assert {each.id: level for each, level in zip(graph.nodes, levels, strict=True)} == expected


@given(ordered_graphs())
def test_in_apply_order_nothing_is_sorted(graph: CompiledGraph) -> None:
    order = Order(graph.nodes, graph.after)
    with mock.patch.object(order, "_sorted", side_effect=AssertionError):
        order.levels()


LEVELS: dict[str, tuple[list[Node], After, list[int]]] = {
    "an owner that comes later": ([node("a", owner="b"), node("b")], {}, [1, 0]),
    "a rule that comes later": ([node("a", "second"), node("b", "first")], {"second": [("first", 0)]}, [1, 0]),
    "one object of a rule that comes later": (
        [node("a", "first"), node("b", "second"), node("c", "first")],
        {"second": [("first", 0)]},
        [0, 1, 0],
    ),
    "a rule without objects": ([node("a", "second")], {"second": [("first", 0)]}, [0]),
    "an owner of another group": ([node("a", owner="b"), node("b", api="example.com/v1")], {}, [0, 0]),
}


@pytest.mark.parametrize(("nodes", "after", "levels"), LEVELS.values(), ids=LEVELS.keys())
def test_an_object_stands_one_level_above_what_it_waits_for(nodes: list[Node], after: After, levels: list[int]) -> None:
    assert Order(nodes, after).levels() == levels
