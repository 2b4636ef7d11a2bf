"""A graph of objects: who waits for whom, and in which wave each is written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.desired import Cycle, Desired, DuplicateObject, Graph
from applier.plan.order import order
from applier.ref import Ref


def ref(name: str) -> Ref:
    return Ref("", "ConfigMap", "shop", name)


def desired(name: str, *after: str, owner: str = "", source: str = "") -> Desired:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}}
    return Desired(manifest, after=[ref(other) for other in after], owner=ref(owner) if owner else None, source=source)


def waves(*objects: Desired) -> list[str]:
    return [" ".join(ref.name for ref in wave) for wave in order(Graph(objects)).waves]


def test_nothing_has_no_waves() -> None:
    assert waves() == []


def test_objects_that_wait_for_nothing_are_written_at_once() -> None:
    assert waves(desired("b"), desired("a")) == ["b a"]


def test_an_object_is_written_after_all_that_it_waits_for() -> None:
    assert waves(desired("d", "b", "c"), desired("c", "b"), desired("b", "a"), desired("a")) == ["a", "b", "c", "d"]


def test_an_object_is_written_after_its_owner() -> None:
    assert waves(desired("pod", owner="set"), desired("set")) == ["set", "pod"]


def test_what_is_outside_the_graph_is_not_waited_for() -> None:
    assert waves(desired("a", "elsewhere", owner="somebody")) == ["a"]


def test_what_comes_first_is_named_once() -> None:
    graph = Graph([desired("a"), desired("b", "a", "a", owner="a")])
    assert graph.before(graph.objects[ref("b")]) == [ref("a")]


def test_a_cycle_is_told_by_its_path() -> None:
    with pytest.raises(Cycle, match="ConfigMap/shop/a -> ConfigMap/shop/b -> ConfigMap/shop/a"):
        order(Graph([desired("x", "a"), desired("a", "b"), desired("b", "a")]))


def test_an_object_that_waits_for_itself_is_a_cycle() -> None:
    with pytest.raises(Cycle) as caught:
        order(Graph([desired("a", "a")]))
    assert caught.value.path == [ref("a"), ref("a")]


def test_an_object_that_is_asked_for_twice_is_refused_with_who_asks() -> None:
    with pytest.raises(DuplicateObject, match=r"ConfigMap/shop/a is declared twice: by web\.yaml:3 and web\.yaml:9"):
        Graph([desired("a", source="web.yaml:3"), desired("a", source="web.yaml:9")])


def test_a_chain_of_ten_thousand_needs_no_recursion() -> None:
    chain = [desired(str(n), str(n + 1)) for n in range(10_000)] + [desired("10000")]
    assert len(order(Graph(chain)).waves) == 10_001


@st.composite
def edges(draw: st.DrawFn) -> dict[int, list[int]]:
    """For each of some objects, those that it waits for; any, so there may be cycles."""
    count = draw(st.integers(1, 8))
    return {n: draw(st.lists(st.integers(0, count - 1), max_size=3)) for n in range(count)}


def objects(edges: dict[int, list[int]]) -> Iterator[Desired]:
    return (desired(str(n), *map(str, before)) for n, before in edges.items())


@given(edges())
def test_there_are_waves_exactly_when_there_is_no_cycle(edges: dict[int, list[int]]) -> None:
    oracle = networkx.DiGraph([(before, n) for n, all_before in edges.items() for before in all_before])
    oracle.add_nodes_from(edges)
    try:
        found = order(Graph(list(objects(edges)))).waves
    except Cycle as cycle:
        names = [int(ref.name) for ref in cycle.path]
        assert names[0] == names[-1]
        assert all(after in edges[before] for before, after in pairwise(names))
    else:
        expected = [sorted(map(str, generation)) for generation in networkx.topological_generations(oracle)]
        assert [sorted(ref.name for ref in wave) for wave in found] == expected
