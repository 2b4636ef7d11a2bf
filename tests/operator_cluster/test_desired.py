"""Compiled nodes and plain manifests as objects that should exist."""

from __future__ import annotations

import pytest

from applier.desired import Desired, DuplicateObject, Graph
from applier.plan.order import order
from applier.ref import Manifest, Ref
from grove_compiler.graph.graph import CompiledGraph
from grove_compiler.graph.node import Node
from grove_compiler.source.document import Document
from grove_operator.cluster.classify import Item
from grove_operator.cluster.desired import Sources, desired_graph

from .manifests import a_set, compiled, obj

SET = Ref("grove.io", "PodCliqueSet", "shop", "web")
CLIQUE = Ref("grove.io", "PodClique", "shop", "web-0-server")
ACCOUNT = Ref("", "ServiceAccount", "shop", "web")
NOTHING = CompiledGraph([], {})


def item(manifest: Manifest, line: int = 1) -> Item:
    return Item(manifest, Document(manifest, "all.yaml", line=line))


def wanted(*sets: Manifest, plain: tuple[Manifest, ...] = (), served: bool = True) -> Graph:
    items = [item(manifest) for manifest in (*(sets if served else ()), *plain)]
    return desired_graph(Sources(compiled(*sets) if sets else NOTHING, items))


def owners_of(desired: Desired) -> list[str]:
    return [reference["name"] for reference in desired.manifest["metadata"].get("ownerReferences", [])]


def test_a_set_is_written_with_all_that_it_becomes() -> None:
    objects = wanted(a_set()).objects
    assert {SET, CLIQUE, ACCOUNT} <= objects.keys()


def test_objects_wait_for_the_set_that_owns_them() -> None:
    graph = wanted(a_set())
    assert graph.objects[CLIQUE].owner == SET
    assert order(graph).waves[0] == [SET]


def test_objects_wait_for_what_their_rules_name() -> None:
    assert ACCOUNT in wanted(a_set()).objects[CLIQUE].after


def test_a_thousand_objects_that_wait_for_a_thousand_share_what_they_wait_for() -> None:
    named = [(rule, f"{rule}{number}") for rule in "xy" for number in range(1_000)]
    nodes = [Node(f"ConfigMap/{name}", obj("ConfigMap", name), rule, (), None, {}) for rule, name in named]
    objects = desired_graph(Sources(CompiledGraph(nodes, {"y": [("x", 0)]}), [])).objects.values()
    assert sum(len(one.after) for one in objects) == 0
    assert len({id(group) for one in objects for group in one.groups}) == 1
    assert len(order(Graph(list(objects))).waves) == 2


def test_objects_of_a_set_that_is_not_written_do_not_refer_to_it() -> None:
    desired = wanted(a_set(), served=False).objects[CLIQUE]
    assert (desired.owner, owners_of(desired)) == (None, [])


@pytest.mark.parametrize("among_the_files", [True, False])
def test_what_rules_add_to_an_object_that_people_write_is_left_to_whoever_runs_the_sets(among_the_files: bool) -> None:
    levels = [{"domain": "rack", "key": "example.com/rack"}]
    topology = obj("ClusterTopology", "racks", "", api="grove.io/v1alpha1", spec={"levels": levels})
    graph = compiled(topology, snapshot=(topology,))
    assert [node.rule for node in graph.nodes] == ["topology/guard"]
    found = desired_graph(Sources(graph, [item(topology)] if among_the_files else []))
    assert [desired.manifest for desired in found.objects.values()] == ([topology] if among_the_files else [])


def test_compiled_objects_are_not_changed_for_that() -> None:
    graph = compiled(a_set())
    desired_graph(Sources(graph, []))
    assert all("ownerReferences" in node.object["metadata"] for node in graph.nodes if node.owner)


def test_a_reference_whose_uid_is_known_stays() -> None:
    live = a_set()
    live["metadata"]["uid"] = "7f3c"
    graph = desired_graph(Sources(compiled(a_set(), snapshot=(live,)), []))
    assert owners_of(graph.objects[CLIQUE]) == ["web"]


def test_rules_say_what_may_be_done() -> None:
    objects = wanted(a_set()).objects
    assert objects[Ref("", "Secret", "shop", "web-ic-sat")].policy.create_only
    assert objects[CLIQUE].policy.yields == ("/spec/replicas",)


def test_rules_are_the_source_of_what_they_make_and_files_of_the_rest() -> None:
    objects = wanted(a_set()).objects
    assert (objects[CLIQUE].source, objects[SET].source) == ("rule podclique/standalone", "all.yaml:1")


def test_replicas_that_a_plain_autoscaler_drives_are_yielded() -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scaler = obj("HorizontalPodAutoscaler", "web", api="autoscaling/v2", spec={"scaleTargetRef": target})
    graph = wanted(plain=(obj("Deployment", "web", api="apps/v1"), scaler))
    assert graph.objects[Ref("apps", "Deployment", "shop", "web")].policy.yields == ("/spec/replicas",)
    assert graph.objects[Ref("autoscaling", "HorizontalPodAutoscaler", "shop", "web")].policy.yields == ()


def test_a_plain_manifest_may_name_an_owner_without_its_uid_as_compiled_ones_do() -> None:
    reference = {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "web"}
    graph = wanted(plain=(obj("ConfigMap", "x", metadata={"ownerReferences": [reference]}),))
    assert graph.objects[Ref("", "ConfigMap", "shop", "x")].owner == SET


def test_an_owner_whose_uid_is_given_is_left_alone() -> None:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "y", "uid": "1"}
    graph = wanted(plain=(obj("ConfigMap", "x", metadata={"ownerReferences": [reference]}),))
    assert graph.objects[Ref("", "ConfigMap", "shop", "x")].owner is None


def test_what_a_selector_leaves_out_is_not_wanted() -> None:
    items = [item(obj("ConfigMap", name, metadata={"labels": {"app": name}})) for name in ("a", "b")]
    graph = desired_graph(Sources(NOTHING, items), selects=lambda manifest: manifest["metadata"]["labels"]["app"] == "b")
    assert [ref.name for ref in graph.objects] == ["b"]


def test_the_same_object_twice_is_refused_with_both_places() -> None:
    items = [item(obj("ConfigMap", "x"), 1), item(obj("ConfigMap", "x"), 9)]
    with pytest.raises(DuplicateObject, match=r"by all\.yaml:1 and all\.yaml:9"):
        desired_graph(Sources(NOTHING, items))


def test_an_object_that_a_set_makes_cannot_be_given_as_well() -> None:
    with pytest.raises(DuplicateObject, match=r"by all\.yaml:1 and rule access/service-account"):
        wanted(a_set(), plain=(obj("ServiceAccount", "web"),))
