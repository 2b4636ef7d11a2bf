"""What every picture is drawn from."""

from __future__ import annotations

import pytest

from grove_cli.render.picture import DECLARED, draw, simplify
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.order import GraphCycle

from . import sample
from .sample import SET, node, picture, ref, workload


def test_the_declared_set_comes_first_with_its_manifest() -> None:
    first = picture().vertices[0]
    assert (first.id, first.level, first.rule) == (SET.id, DECLARED, "")
    assert first.object == sample.DECLARED[SET.id]


def test_an_owner_that_nobody_declared_is_drawn_without_a_manifest() -> None:
    first = draw(workload(), {}).vertices[0]
    assert (first.kind, first.name, first.namespace, first.object) == ("PodCliqueSet", "demo", "ml", None)


def test_levels_are_the_waves_of_the_graph() -> None:
    graph = workload()
    levels = {each.id: level for level, wave in enumerate(graph.levels()) for each in wave}
    found = {vertex.id: vertex.level for vertex in picture(graph).vertices if vertex.level != DECLARED}
    assert found == levels
    assert picture(graph).levels == 1 + max(levels.values())


def test_vertices_stand_in_apply_order() -> None:
    graph = workload()
    assert [vertex.id for vertex in picture(graph).vertices[1:]] == [each.id for each in graph.nodes]


def test_an_empty_graph_is_an_empty_picture() -> None:
    empty = draw(CompiledGraph([], {}), {})
    assert (empty.vertices, empty.edges, empty.domains, empty.levels) == ([], [], [], 0)


def test_objects_that_wait_for_each_other_are_no_picture() -> None:
    with pytest.raises(GraphCycle):
        draw(CompiledGraph([node("A", "a", owner=ref("B", "b")), node("B", "b", owner=ref("A", "a"))], {}), {})


def test_kinds_of_one_name_in_two_api_groups_are_two_vertices() -> None:
    one = node("PodGroup", "demo")
    other = one._replace(object={**one.object, "apiVersion": "scheduling.volcano.sh/v1beta1"})
    ids = [vertex.id for vertex in draw(CompiledGraph([one, other], {}), {}).vertices]
    assert ids[1:] == ["PodGroup/ml/demo", "PodGroup/ml/demo (scheduling.volcano.sh/v1beta1)"]


def test_an_object_without_namespace_has_none() -> None:
    cluster = node("ClusterTopology", "gb200")._replace(id="ClusterTopology/gb200")
    del cluster.object["metadata"]["namespace"]
    assert draw(CompiledGraph([cluster], {}), {}).by_id["ClusterTopology/gb200"].namespace == ""


def test_the_picture_for_people_has_the_same_objects_and_fewer_edges() -> None:
    whole = picture(workload(replicas=2, members=4))
    less = simplify(whole)
    assert less.vertices == whole.vertices
    assert sum(len(edge.sources) * len(edge.targets) for edge in less.edges) < sum(
        len(edge.sources) * len(edge.targets) for edge in whole.edges
    )
