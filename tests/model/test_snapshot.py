"""What exists already."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from grove_compiler.graph.node import ObjectRef
from grove_compiler.model.inputs.snapshot import ObjectList, Snapshot, controller_of, is_finished

from .sets import existing, existing_pod

CLIQUE = ObjectRef("grove.io/v1alpha1", "PodClique", "default", "demo-0-a")
GONE = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def test_an_empty_snapshot_is_false() -> None:
    assert not Snapshot()
    assert Snapshot([existing("PodClique", "demo-0-a")])


def test_an_object_is_found_by_group_kind_namespace_and_name() -> None:
    found = Snapshot([existing("PodClique", "demo-0-a")])
    assert found.get("grove.io/v1alpha1", "PodClique", "default", "demo-0-a") is not None
    assert found.get("grove.io/v2", "PodClique", "default", "demo-0-a") is not None
    assert found.get("other.io/v1alpha1", "PodClique", "default", "demo-0-a") is None
    assert found.get("grove.io/v1alpha1", "PodClique", "prod", "demo-0-a") is None
    assert found.get("grove.io/v1alpha1", "PodClique", "default", "demo-0-b") is None


def test_kinds_of_one_name_in_two_groups_are_two_objects() -> None:
    core = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}}
    knative = {**core, "apiVersion": "serving.knative.dev/v1"}
    found = Snapshot([core, knative])
    assert found.get("v1", "Service", "default", "s") is core
    assert found.get("serving.knative.dev/v1", "Service", "default", "s") is knative


def test_a_reference_gets_the_uid_of_what_exists() -> None:
    assert Snapshot([existing("PodClique", "demo-0-a")]).with_uid(CLIQUE).uid == "uid-of-demo-0-a"
    assert Snapshot().with_uid(CLIQUE) == CLIQUE
    assert Snapshot([existing("PodClique", "demo-0-b")]).with_uid(CLIQUE) == CLIQUE


def test_what_is_being_deleted_has_a_name_but_no_uid() -> None:
    found = Snapshot([existing("PodClique", "demo-0-a", metadata=GONE)])
    assert found.get("grove.io/v1alpha1", "PodClique", "default", "demo-0-a") is not None
    assert found.live(CLIQUE) is None
    assert found.with_uid(CLIQUE).uid == ""


def test_children_are_found_by_their_controller() -> None:
    pod = existing_pod("demo-0-a", "bbbbb", 0)
    found = Snapshot([pod, existing_pod("demo-0-b", "ccccc", 0), existing("Pod", "loose")])
    assert found.owned("Pod", CLIQUE) == [pod]
    assert found.owned("Service", CLIQUE) == []


def test_children_of_a_former_object_of_the_same_name_do_not_count() -> None:
    found = Snapshot([existing_pod("demo-0-a", "bbbbb", 0)])
    assert len(found.owned("Pod", CLIQUE._replace(uid="uid-of-demo-0-a"))) == 1
    assert found.owned("Pod", CLIQUE._replace(uid="another")) == []


def test_children_without_the_uid_of_their_owner_count() -> None:
    pod = existing_pod("demo-0-a", "bbbbb", 0)
    del pod["metadata"]["ownerReferences"][0]["uid"]
    assert Snapshot([pod]).owned("Pod", CLIQUE._replace(uid="another")) == [pod]


def test_an_owner_that_is_no_controller_does_not_count() -> None:
    pod = existing_pod("demo-0-a", "bbbbb", 0)
    pod["metadata"]["ownerReferences"][0]["controller"] = False
    assert controller_of(pod) is None
    assert Snapshot([pod]).owned("Pod", CLIQUE) == []


def test_an_object_without_anything_harms_nobody() -> None:
    assert Snapshot([{}, {"metadata": None, "kind": None, "apiVersion": None}]).owned("Pod", CLIQUE) == []


@pytest.mark.parametrize(
    ("status", "expected"), [({}, False), ({"phase": "Running"}, False), ({"phase": "Failed"}, True), ({"phase": "Succeeded"}, True)]
)
def test_a_pod_is_finished_when_it_failed_or_succeeded(status: Any, expected: bool) -> None:
    assert is_finished({"status": status}) is expected


NAMES = ["".join(letters) for length in range(1, 5) for letters in product("a-.b", repeat=length)]


class Listed(ObjectList):
    """Counts how often all objects of a kind were asked for."""

    __slots__ = ("lists",)

    def __init__(self, objects: list[Any]) -> None:
        super().__init__(objects)
        self.lists = 0

    def by_label(self, group: str, kind: str, key: str = "", value: str = "", namespace: str = "") -> list[Any]:
        self.lists += 1
        return super().by_label(group, kind, key, value, namespace)


def test_sets_of_which_one_begins_with_the_other_are_found_without_a_look_at_all() -> None:
    view = Listed([existing("PodCliqueSet", name) for name in reversed(NAMES)])
    found = Snapshot(view=view)
    for name in NAMES:
        expected = sorted(other for other in NAMES if name.startswith(f"{other}-") or other.startswith(f"{name}-"))
        assert [one["metadata"]["name"] for one in found.sets_named_like(name, "default")] == expected
    assert view.lists == 1
    assert found.sets_named_like("a", "prod") == []


def test_a_set_that_the_input_brings_along_takes_the_place_of_that_of_the_cluster() -> None:
    given, stored = (existing("PodCliqueSet", "a-b") for _ in range(2))
    [found] = Snapshot([given], ObjectList([stored])).sets_named_like("a", "default")
    assert found is given
