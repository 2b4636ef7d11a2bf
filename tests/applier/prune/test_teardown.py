"""In which order live objects are deleted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.desired import Desired, Graph
from applier.prune.deletion import owners_of, still_needed, teardown
from applier.ref import Manifest, Ref

from .sets import account, config


def owner(name: str, kind: str = "ConfigMap", api_version: str = "v1") -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": "1"}


def owned(name: str, *owners: str) -> Manifest:
    return config(name, ownerReferences=[owner(other) for other in owners])


def waves(*live: Manifest, wanted: Graph | None = None) -> list[str]:
    return [" ".join(sorted(ref.name for ref in wave)) for wave in teardown(live, wanted).waves]


NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.org"},
    "spec": {"group": "example.org", "names": {"kind": "Widget"}},
}
WIDGET = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "other"}}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"serviceAccountName": "runner", "containers": []},
}
WEBHOOK = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "hook"}}


def test_nothing_has_no_waves() -> None:
    assert waves() == []


def test_what_is_owned_goes_before_its_owner() -> None:
    assert waves(config("set"), owned("pod", "set"), owned("log", "pod")) == ["log", "pod", "set"]


def service(name: str, *owners: str) -> Manifest:
    return owned(name, *owners) | {"kind": "Service"}


def test_a_service_goes_with_what_goes_first() -> None:
    assert waves(config("set"), service("headless", "set"), owned("clique", "set"), owned("pod", "clique")) == [
        "headless pod",
        "clique",
        "set",
    ]


def test_a_service_that_something_rests_on_goes_after_that() -> None:
    slice = config("slice", ownerReferences=[owner("web", "Service")])
    assert waves(service("web"), slice) == ["slice", "web"]


def test_services_alone_leave_no_empty_wave() -> None:
    assert waves(config("set"), service("headless", "set")) == ["headless", "set"]


def test_what_is_in_a_namespace_goes_before_it() -> None:
    assert waves(NAMESPACE, config("a")) == ["a", "default"]


def test_objects_of_a_kind_go_before_their_definition() -> None:
    assert waves(DEFINITION, WIDGET) == ["w", "widgets.example.org"]


def test_pods_go_before_what_they_need() -> None:
    assert waves(account("runner"), POD) == ["p", "runner"]


def test_what_intercepts_requests_goes_first() -> None:
    assert waves(config("a"), WEBHOOK) == ["hook", "a"]


def test_the_graph_says_more() -> None:
    wanted = Graph([Desired(config("a")), Desired(config("b"), after=[Ref("", "ConfigMap", "default", "a")])])
    assert waves(config("a"), config("b"), wanted=wanted) == ["b", "a"]


def test_where_graph_and_owners_contradict_each_other_owners_count() -> None:
    wanted = Graph([Desired(config("a"), after=[Ref("", "ConfigMap", "default", "b")]), Desired(config("b"))])
    assert waves(config("a"), owned("b", "a"), wanted=wanted) == ["b", "a"]


def test_what_rests_on_an_object_is_known() -> None:
    users = teardown([NAMESPACE, config("a"), config("b")]).users
    assert users == {Ref("", "Namespace", "", "default"): [Ref("", "ConfigMap", "default", "a"), Ref("", "ConfigMap", "default", "b")]}


def test_an_owner_may_have_a_namespace_or_none() -> None:
    manifest = config("a", ownerReferences=[owner("web", "Deployment", "apps/v1")])
    assert owners_of(manifest) == [Ref("apps", "Deployment", "default", "web"), Ref("apps", "Deployment", "", "web")]


def test_an_owner_of_what_has_no_namespace_has_none() -> None:
    assert owners_of({"metadata": {"name": "a", "ownerReferences": [owner("b", "Node")]}}) == [Ref("", "Node", "", "b")]


def test_a_namespace_is_needed_by_what_is_in_it() -> None:
    assert still_needed(NAMESPACE, [Ref.of(config("a")), Ref.of(WIDGET)]) == [Ref.of(config("a"))]


def test_a_definition_is_needed_by_objects_of_its_kind() -> None:
    assert still_needed(DEFINITION, [Ref.of(config("a")), Ref.of(WIDGET)]) == [Ref.of(WIDGET)]


@pytest.mark.parametrize("other", [config("default"), {**WIDGET, "spec": DEFINITION["spec"]}], ids=["name", "spec"])
def test_what_only_looks_like_a_namespace_or_a_definition_takes_nothing_with_it(other: Manifest) -> None:
    assert still_needed(other, [Ref.of(config("a")), Ref.of(WIDGET)]) == []


@pytest.mark.parametrize("spec", [{}, {"spec": None}, {"spec": {"group": "example.org"}}])
def test_a_definition_that_says_no_kind_takes_nothing_with_it(spec: dict[str, Any]) -> None:
    nameless = {"apiVersion": DEFINITION["apiVersion"], "kind": DEFINITION["kind"], "metadata": {"name": "x"}, **spec}
    assert still_needed(nameless, [Ref.of(WIDGET)]) == []


edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] > pair[1]), max_size=12)


@given(edges)
def test_every_owner_goes_in_a_later_wave(pairs: list[tuple[int, int]]) -> None:
    names = [f"c{number}" for number in range(8)]
    live = [owned(name, *(names[to] for fro, to in pairs if fro == number)) for number, name in enumerate(names)]
    wave = {ref.name: number for number, refs in enumerate(teardown(live).waves) for ref in refs}
    assert sorted(wave) == names
    assert all(wave[names[fro]] < wave[names[to]] for fro, to in pairs)
