"""Cycles among what waits for what, with networkx as the oracle."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_compiler.model.checks.startup_order import find_cycles, startup_cycles
from grove_compiler.model.expanded.startup import waits
from tests.suite.rows import rows

from .sets import clique, pcs

CASES = {
    "nothing waits": ({"a": [], "b": []}, []),
    "a chain": ({"a": ["b"], "b": ["c"], "c": []}, []),
    "a diamond": ({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}, []),
    "two that wait for each other": ({"a": ["b"], "b": ["a"]}, [["a", "b", "a"]]),
    "the shortest way of several": ({"a": ["b", "d"], "b": ["c"], "c": ["a"], "d": ["a"]}, [["a", "d", "a"]]),
    "two knots": ({"a": ["b"], "b": ["a"], "c": ["d"], "d": ["c"]}, [["a", "b", "a"], ["c", "d", "c"]]),
    "a knot is reported once, though it has two cycles": ({"a": ["b"], "b": ["a", "c"], "c": ["b"]}, [["a", "b", "a"]]),
    "what waits for a cycle is in none": ({"z": ["a"], "a": ["b"], "b": ["a"]}, [["a", "b", "a"]]),
    "a bridge between knots is in none": (
        {"a": ["b"], "b": ["a", "x"], "x": ["c"], "c": ["d"], "d": ["c"]},
        [["a", "b", "a"], ["c", "d", "c"]],
    ),
    "to wait for oneself is another mistake": ({"a": ["a"]}, []),
    "unknown names are another mistake": ({"a": ["nobody"], "b": ["a", "nobody"]}, []),
    "the same name twice": ({"a": ["b", "b"], "b": []}, []),
}


@rows(("waits_for", "cycles"), CASES.values(), ids=CASES.keys())
def test_cycles_are_found_with_their_path(waits_for: dict[str, list[str]], cycles: list[list[str]]) -> None:
    assert find_cycles(waits_for) == cycles


def test_the_cycles_of_a_set_are_those_of_its_cliques() -> None:
    set = pcs("s", [clique("a", starts_after=["b"]), clique("b", starts_after=["a"]), clique("c", starts_after=["a"])])
    assert startup_cycles(set) == [["a", "b", "a"]]


ORDERS = [
    ("CliqueStartupTypeAnyOrder", [False, False, False]),
    ("CliqueStartupTypeInOrder", [False, True, True]),
    ("CliqueStartupTypeExplicit", [False, True, False]),
]


@pytest.mark.parametrize(("startup_type", "expected"), ORDERS)
def test_who_waits_depends_on_the_startup_type(startup_type: str, expected: list[bool]) -> None:
    cliques = [clique("a"), clique("b", starts_after=["a"]), clique("c", starts_after=["nobody"])]
    set = pcs("s", cliques, cliqueStartupType=startup_type)
    assert [bool(waits(set, clique)) for clique in set.cliques] == expected


def test_a_chain_of_many_names_needs_no_recursion() -> None:
    chain = {str(number): [str(number + 1)] for number in range(20_000)}
    assert find_cycles(chain) == []
    assert len(find_cycles({**chain, "20000": ["0"]})[0]) == 20_002


WAITS = st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefghxy"), max_size=4), max_size=8)


def graph_of(waits_for: dict[str, list[str]]) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(waits_for)
    graph.add_edges_from((name, other) for name, others in waits_for.items() for other in others if other in waits_for and other != name)
    return graph


@given(WAITS)
def test_every_knot_gives_exactly_one_cycle(waits_for: dict[str, list[str]]) -> None:
    knots = {frozenset(knot) for knot in nx.strongly_connected_components(graph_of(waits_for)) if len(knot) > 1}
    cycles = find_cycles(waits_for)
    assert len(cycles) == len(knots)
    assert {next(knot for knot in knots if cycle[0] in knot) for cycle in cycles} == knots


@given(WAITS)
def test_every_cycle_can_be_walked_and_visits_no_name_twice(waits_for: dict[str, list[str]]) -> None:
    for cycle in find_cycles(waits_for):
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1
        assert all(after in waits_for[before] for before, after in pairwise(cycle))


@given(WAITS)
def test_every_cycle_is_a_shortest_one_through_its_first_name(waits_for: dict[str, list[str]]) -> None:
    graph = graph_of(waits_for)
    for cycle in find_cycles(waits_for):
        first, lengths = cycle[0], nx.single_target_shortest_path_length(graph, cycle[0])
        assert len(cycle) - 1 == 1 + min(dict(lengths)[after] for after in graph[first] if after in dict(lengths))
