"""In which wave each object is written, beyond what the graph itself says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.desired import AwaitedGroup, Cycle, Desired, Graph
from applier.plan.order import defined_kinds, order
from applier.ref import Ref
from tests.suite.rows import rows

from ..things import definition, desired, manifest, ref, waves

CONTAINERS = {"containers": [{"name": "main"}]}


def test_a_namespace_comes_before_what_is_in_it() -> None:
    assert waves(desired("a"), desired("shop", "Namespace")) == ["shop", "a"]


def test_what_is_in_another_namespace_does_not_wait() -> None:
    assert waves(desired("a", namespace="bar"), desired("shop", "Namespace")) == ["a shop"]


def test_a_definition_comes_before_objects_of_its_kind() -> None:
    assert waves(desired("e", "Engine"), definition()) == ["engines.example.com", "e"]


def test_a_definition_of_another_group_is_not_waited_for() -> None:
    assert waves(desired("e", "Engine"), definition(group="example.org")) == ["e engines.example.org"]


POD_SPECS: list[tuple[str, dict[str, Any]]] = [
    ("ServiceAccount", {"serviceAccountName": "x"}),
    ("PriorityClass", {"priorityClassName": "x"}),
    ("RuntimeClass", {"runtimeClassName": "x"}),
    ("Secret", {"imagePullSecrets": [{"name": "x"}]}),
    ("Secret", {"volumes": [{"name": "v", "secret": {"secretName": "x"}}]}),
    ("ConfigMap", {"volumes": [{"name": "v", "configMap": {"name": "x"}}]}),
    ("PersistentVolumeClaim", {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]}),
    ("ConfigMap", {"volumes": [{"name": "v", "projected": {"sources": [{"configMap": {"name": "x"}}]}}]}),
    ("Secret", {"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "x"}}]}}]}),
    ("ConfigMap", {"containers": [{"name": "main", "envFrom": [{"configMapRef": {"name": "x"}}]}]}),
    ("Secret", {"containers": [{"name": "main", "envFrom": [{"secretRef": {"name": "x"}}]}]}),
    ("ConfigMap", {"containers": [{"name": "main", "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "x"}}}]}]}),
    ("Secret", {"initContainers": [{"name": "i", "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "x"}}}]}]}),
]


@rows(("kind", "spec"), POD_SPECS)
def test_what_pods_need_comes_before_the_workload(kind: str, spec: dict[str, Any]) -> None:
    workload = desired("web", "Deployment", spec={"template": {"spec": {**CONTAINERS, **spec}}})
    assert waves(workload, desired("x", kind)) == ["x", "web"]


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("Pod", {**CONTAINERS, "serviceAccountName": "x"}),
        ("Job", {"template": {"spec": {**CONTAINERS, "serviceAccountName": "x"}}}),
        ("CronJob", {"jobTemplate": {"spec": {"template": {"spec": {**CONTAINERS, "serviceAccountName": "x"}}}}}),
    ],
)
def test_pods_are_found_in_every_kind_of_workload(kind: str, spec: dict[str, Any]) -> None:
    assert waves(desired("web", kind, spec=spec), desired("x", "ServiceAccount")) == ["x", "web"]


@pytest.mark.parametrize("spec", [None, [], {"template": None}, {"template": {"spec": None}}, {"template": {"spec": {"containers": 3}}}])
def test_a_workload_without_pods_needs_nothing(spec: Any) -> None:
    assert waves(desired("web", "Deployment", spec=spec), desired("x")) == ["web x"]


@pytest.mark.parametrize(
    ("binding", "role"), [("RoleBinding", "Role"), ("RoleBinding", "ClusterRole"), ("ClusterRoleBinding", "ClusterRole")]
)
def test_a_role_comes_before_its_binding(binding: str, role: str) -> None:
    assert waves(desired("b", binding, roleRef={"kind": role, "name": "r"}), desired("r", role)) == ["r", "b"]


def test_an_implied_edge_that_would_close_a_cycle_is_left_out() -> None:
    """The graph wants the namespace last, for whatever reason."""
    assert waves(desired("shop", "Namespace", ref("a")), desired("a")) == ["a", "shop"]


def test_other_implied_edges_stay_when_one_is_left_out() -> None:
    assert waves(desired("shop", "Namespace", ref("a")), desired("a"), desired("b")) == ["a", "shop", "b"]


def test_a_cycle_of_the_graphs_own_is_an_error() -> None:
    with pytest.raises(Cycle):
        order(Graph([desired("a", "ConfigMap", ref("b")), desired("b", "ConfigMap", ref("a")), desired("shop", "Namespace")]))


@pytest.mark.parametrize("kind", ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
def test_what_intercepts_requests_comes_last(kind: str) -> None:
    assert waves(desired("hook", kind), desired("a"), desired("b", "ConfigMap", ref("a"))) == ["a", "b", "hook"]


def test_what_intercepts_requests_stays_in_place_when_something_waits_for_it() -> None:
    hook = desired("hook", "ValidatingWebhookConfiguration")
    assert waves(hook, desired("a"), desired("b", "ConfigMap", hook.ref)) == ["hook a", "b"]


def test_what_only_intercepts_is_one_wave() -> None:
    assert waves(desired("hook", "ValidatingWebhookConfiguration")) == ["hook"]


def test_those_that_wait_for_a_group_come_after_the_last_of_it() -> None:
    group = AwaitedGroup([ref("a"), ref("b"), ref("elsewhere")])
    late = [Desired(manifest(name), groups=[group]) for name in ("x", "y")]
    assert waves(*late, desired("b", "ConfigMap", ref("a")), desired("a")) == ["a", "b", "x y"]


def test_an_object_that_waits_for_a_group_of_itself_is_an_error_that_names_objects_only() -> None:
    group = AwaitedGroup([ref("a")])
    with pytest.raises(Cycle) as caught:
        order(Graph([Desired(manifest("b"), groups=[group]), desired("a", "ConfigMap", ref("b"))]))
    assert sorted(one.name for one in set(caught.value.path)) == ["a", "b"]
    assert caught.value.path[0] == caught.value.path[-1]


def test_what_intercepts_requests_stays_in_place_when_a_group_has_it() -> None:
    hook = desired("hook", "ValidatingWebhookConfiguration")
    assert waves(hook, desired("a"), Desired(manifest("b"), groups=[AwaitedGroup([hook.ref])])) == ["hook a", "b"]


class Counting(list[Ref]):
    """References that know how often they were gone through."""

    times = 0

    def __iter__(self) -> Iterator[Ref]:
        self.times += 1
        return super().__iter__()


def test_a_group_is_gone_through_a_few_times_however_many_wait_for_it() -> None:
    first = [desired(f"a{number}") for number in range(20)]
    refs = Counting(one.ref for one in first)
    group = AwaitedGroup(refs)
    order(Graph([*first, *(Desired(manifest(f"b{number}"), groups=[group]) for number in range(200))]))
    assert 0 < refs.times < 5


def test_what_the_graph_says_and_what_kubernetes_implies_are_told_apart() -> None:
    found = order(Graph([desired("shop", "Namespace"), desired("a"), desired("b", "ConfigMap", ref("a"))]))
    assert (found.hard_dependencies, found.soft_dependencies) == (
        {ref("b"): [ref("a")]},
        {ref("a"): [ref("shop", "Namespace")], ref("b"): [ref("shop", "Namespace")]},
    )


def test_the_kinds_that_a_graph_defines_are_known() -> None:
    crd = definition()
    assert defined_kinds(Graph([crd, desired("e", "Engine", spec=crd.manifest["spec"])])) == {("example.com", "Engine"): crd.ref}


def test_a_definition_without_a_specification_defines_nothing_that_is_asked_for() -> None:
    assert waves(desired("x", "CustomResourceDefinition"), desired("e", "Engine")) == ["x e"]


def test_a_role_is_waited_for_by_bindings_of_its_own_group_only() -> None:
    assert waves(desired("b", "Role", roleRef={"kind": "ClusterRole", "name": "r"}), desired("r", "ClusterRole")) == ["b r"]


@st.composite
def graphs(draw: st.DrawFn) -> list[Desired]:
    """Namespaces and what is in them, with edges of any kind between them."""
    kinds = draw(st.lists(st.sampled_from(["Namespace", "ConfigMap", "ServiceAccount", "Pod"]), min_size=1, max_size=7))
    refs = [ref(str(n), kind, namespace="0") for n, kind in enumerate(kinds)]
    chosen = st.lists(st.sampled_from(refs), max_size=2)
    spec = {**CONTAINERS, "serviceAccountName": "1"}
    return [desired(one.name, one.kind, *draw(chosen), namespace="0", spec=spec) for one in refs]


@given(graphs())
def test_only_edges_of_the_graph_make_an_order_impossible(objects: list[Desired]) -> None:
    graph = Graph(objects)
    try:
        found = order(graph)
    except Cycle as cycle:
        assert all(before in graph.before(graph.objects[ref]) for ref, before in pairwise(cycle.path))
        return
    wave = {ref: number for number, refs in enumerate(found.waves) for ref in refs}
    assert all(
        wave[before] < wave[one.ref] for one in objects for before in (*graph.before(one), *found.soft_dependencies.get(one.ref, ()))
    )
    assert sorted(wave) == sorted(graph.objects)
