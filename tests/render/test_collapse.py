"""Large pictures made small without losing the order."""

from __future__ import annotations

import networkx as nx
import pytest

from grove_cli.render.collapse import collapse
from grove_cli.render.picture import Picture, Vertex, similarity_key
from grove_compiler.graph.graph import CompiledGraph

from .sample import clique, for_people, node, ref, workload


def notes(picture: Picture, kind: str = "") -> list[str]:
    return [vertex.note for vertex in picture.vertices if vertex.note and kind in ("", vertex.kind)]


def services(*names: str) -> CompiledGraph:
    return CompiledGraph([node("Service", name, "service/replica") for name in names], {})


def test_a_small_picture_stays_as_it_is() -> None:
    before = for_people(services("demo-0", "demo-1", "demo-2"))
    after = collapse(before)
    assert [vertex.id for vertex in after.vertices] == [vertex.id for vertex in before.vertices]
    assert after.edges == before.edges


def test_of_four_that_are_alike_the_first_is_drawn_and_the_rest_counted() -> None:
    after = collapse(for_people(services(*(f"demo-{number}" for number in range(4)))))
    assert [vertex.name for vertex in after.vertices] == ["demo", "demo-0", "demo-1"]
    assert notes(after) == ["… 3 more like it: demo-1 to demo-3"]


def test_names_that_differ_in_more_than_an_index_are_not_alike() -> None:
    assert not notes(collapse(for_people(services("llama-7b", "llama-8b", "llama-13b", "llama-70b", "llama-405b"))))


@pytest.mark.parametrize(("field", "values"), [("replicas", (1, 2)), ("minAvailable", (1, 2)), ("roleName", ("a", "b"))])
def test_cliques_that_differ_in_what_they_ask_for_are_not_alike(field: str, values: tuple[object, object]) -> None:
    made = [clique(f"demo-{number}-web", "podclique/standalone", ref("PodCliqueSet", "demo"), (0,), 1) for number in range(2)]
    shapes = []
    for each, value in zip(made, values, strict=True):
        each.object["spec"][field] = value
        name = each.object["metadata"]["name"]
        shapes.append(similarity_key(Vertex(each.id, "PodClique", name, "ml", each.rule, 0, "", "", each.object)))
    assert shapes[0] != shapes[1]


def test_gangs_that_are_alike_become_one_box_of_stand_ins() -> None:
    after = collapse(for_people(workload(members=6)))
    box = next(vertex for vertex in after.vertices if vertex.kind == "PodGang" and vertex.note)
    inside = [vertex for vertex in after.vertices if vertex.gang == box.id]
    assert box.note == "… 4 more like it: demo-0-model-1 to demo-0-model-4"
    assert {vertex.kind: vertex.note.partition(":")[0] for vertex in inside if vertex is not box} == {
        "PodClique": "4 in all",
        "ComputeDomain": "4 in all",
        "ResourceClaim": "4 in all",
        "Pod": "12 in all",
    }


def test_what_a_hidden_object_owns_is_counted() -> None:
    cliques = [clique(f"demo-{number}-web", "podclique/standalone", ref("PodCliqueSet", "demo"), (0,), 1) for number in range(9)]
    owned = [node("ConfigMap", f"demo-{number}-web", "config/clique", ref("PodClique", f"demo-{number}-web")) for number in range(9)]
    after = collapse(for_people(CompiledGraph([*cliques, *owned], {})))
    assert notes(after, "ConfigMap") == ["8 in all: demo-1-web to demo-8-web"]


def test_every_object_is_drawn_or_counted() -> None:
    before = for_people(workload(replicas=3, members=7, worker_pods=9))
    after = collapse(before)
    counted = sum(int(note.strip("… ").split()[0]) for note in notes(after))
    assert counted + sum(not vertex.note for vertex in after.vertices) == len(before.vertices)


def test_a_stand_in_has_no_manifest_of_one_of_its_objects() -> None:
    assert all(vertex.object is None for vertex in collapse(for_people(workload(members=9))).vertices if vertex.note)


def test_owners_and_gangs_of_what_is_drawn_are_drawn() -> None:
    after = collapse(for_people(workload(replicas=5, members=9, worker_pods=9)))
    ids = {vertex.id for vertex in after.vertices}
    assert {vertex.owner for vertex in after.vertices} | {vertex.gang for vertex in after.vertices} <= ids | {""}


def test_edges_and_domains_are_about_what_is_drawn() -> None:
    after = collapse(for_people(workload(replicas=5, members=9, worker_pods=9)))
    ids = {vertex.id for vertex in after.vertices}
    assert {end for edge in after.edges for end in (*edge.sources, *edge.targets)} <= ids
    assert {member for domain in after.domains for member in domain.members} <= ids


def test_stand_ins_do_not_make_circles() -> None:
    after = collapse(for_people(workload(replicas=5, members=9)))
    graph = nx.DiGraph((source, target) for edge in after.edges for source in edge.sources for target in edge.targets)
    assert nx.is_directed_acyclic_graph(graph)


def test_the_size_does_not_follow_the_number_of_replicas() -> None:
    sizes = {len(collapse(for_people(workload(replicas=number, members=number, worker_pods=number))).vertices) for number in (8, 12, 16)}
    assert len(sizes) == 1
