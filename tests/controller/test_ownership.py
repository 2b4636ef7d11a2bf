"""Only what a set owns is ever deleted: labels say what is looked at, and anybody may write them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from applier.ref import Kind, Manifest, Ref
from kube_objects.manifest import is_terminating
from tests.controller.test_held_is_told import stalled_of
from tests.hostile.world import stalls
from tests.simulation.schedules import MakeAnew
from tests.simulation.sets import NAME, demo, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, assert_no_orphan
from tests.simulation.world import CLIQUE, GROUP, NAMESPACE, POD, SERVICE, SET

KINDS = ("Secret", "Service", "Pod", "ServiceAccount", "HorizontalPodAutoscaler", "Role", "ControllerRevision", "PodClique", "PodGang")
APIS = {
    "HorizontalPodAutoscaler": "autoscaling/v2",
    "Role": "rbac.authorization.k8s.io/v1",
    "ControllerRevision": "apps/v1",
    "PodClique": "grove.io/v1alpha1",
    "PodGang": "scheduler.grove.io/v1alpha1",
}


def labelled(kind: str, name: str, part_of: str, **metadata: Any) -> Manifest:
    labels = {
        "app.kubernetes.io/managed-by": "grove-operator",
        "app.kubernetes.io/part-of": part_of,
        "grove.io/podcliqueset-replica-index": "0",
        "grove.io/podclique": f"{part_of}-0-front",
    }
    spec = {"containers": [{"name": "main", "image": "busybox"}]} if kind == "Pod" else {}
    made = {"name": name, "namespace": NAMESPACE, "labels": labels, **metadata}
    return {"apiVersion": APIS.get(kind, "v1"), "kind": kind, "metadata": made, "spec": spec}


def there(simulation: Simulation, *manifests: Manifest) -> list[bool]:
    return [simulation.world.cluster.find(Ref.of(one)) is not None for one in manifests]


@pytest.mark.parametrize("part_of", [NAME, "nobody"], ids=["of a set that is there", "of a set that never was"])
def test_what_somebody_has_only_labelled_stays(part_of: str) -> None:
    simulation = running()
    strangers = [labelled(kind, f"{part_of}-0-theirs", part_of) for kind in KINDS]
    simulation.world.cluster.seed(*copy.deepcopy(strangers))
    simulation.settle()
    simulation.operator.restart()
    simulation.settle()
    assert there(simulation, *strangers) == [True] * len(KINDS)


def referring(simulation: Simulation, *, is_anothers: bool) -> list[Manifest]:
    """A reference to the set that does not control, as one writes it to have an object go with the set; another owner may control."""
    owner = {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "name": NAME,
        "uid": simulation.world.get(SET, NAME)["metadata"]["uid"],
    }
    another = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "theirs", "uid": "theirs", "controller": True}
    return [owner, *([another] if is_anothers else [])]


@pytest.mark.parametrize("is_anothers", [False, True], ids=["", "and is another controller's"])
def test_what_has_the_set_as_an_owner_that_does_not_control_it_stays(is_anothers: bool) -> None:
    simulation = running()
    references = referring(simulation, is_anothers=is_anothers)
    strangers = [labelled(kind, f"{NAME}-0-theirs", NAME, ownerReferences=references) for kind in KINDS]
    simulation.world.cluster.seed(*copy.deepcopy(strangers))
    simulation.settle()
    simulation.operator.restart()
    simulation.settle()
    assert there(simulation, *strangers) == [True] * len(KINDS)


@pytest.mark.parametrize("is_anothers", [False, True], ids=["", "and is another controller's"])
def test_so_does_one_by_the_name_of_one_of_ours(is_anothers: bool) -> None:
    simulation = running()
    theirs = labelled("Service", f"{NAME}-1", NAME, ownerReferences=referring(simulation, is_anothers=is_anothers))
    simulation.world.cluster.seed(copy.deepcopy(theirs))
    simulation.edit(replicas(2))
    simulation.settle()
    simulation.let_pass(30)
    live = simulation.world.get(SERVICE, f"{NAME}-1")
    assert (live["metadata"]["ownerReferences"], live["spec"]) == (theirs["metadata"]["ownerReferences"], {})
    assert any("exists" in one for one in stalls(simulation))
    simulation.edit(replicas(1))
    simulation.settle()
    assert there(simulation, theirs) == [True]


def test_it_stays_while_the_set_is_scaled_in_rolled_and_deleted() -> None:
    simulation = running(demo(replicas=2))
    strangers = [labelled(kind, f"{NAME}-1-theirs", NAME) for kind in KINDS]
    simulation.world.cluster.seed(*copy.deepcopy(strangers))
    simulation.edit(replicas(1))
    simulation.settle()
    simulation.edit(replicas(0))
    simulation.settle()
    simulation.world.delete(SET, NAME)
    simulation.settle()
    assert there(simulation, *strangers) == [True] * len(KINDS)


def orphaned(simulation: Simulation) -> list[Manifest]:
    """Deletes the set as `kubectl delete --cascade=orphan` does; returns what it owned."""
    uid = simulation.world.get(SET, NAME)["metadata"]["uid"]
    objects = simulation.world.cluster.store.objects.values()
    owned = [one for one in objects if uid in {owner["uid"] for owner in one["metadata"].get("ownerReferences") or []}]
    simulation.world.delete(SET, NAME, "Orphan")
    return owned


def test_while_a_set_is_being_orphaned_nothing_of_it_goes() -> None:
    """It stays, with a finalizer, until all references to it are gone."""
    simulation = running()
    before = {one["metadata"]["uid"] for one in simulation.world.all(POD) + simulation.world.all(CLIQUE) + simulation.world.all(SERVICE)}
    set = simulation.world.get(SET, NAME)
    going = {"deletionTimestamp": "2027-01-15T09:00:00Z", "finalizers": ["orphan", "grove.io/podcliqueset.grove.io"]}
    simulation.world.put({**set, "metadata": {**set["metadata"], **going}})
    simulation.settle()
    simulation.operator.restart()
    simulation.settle()
    left = simulation.world.all(POD) + simulation.world.all(CLIQUE) + simulation.world.all(SERVICE)
    assert {one["metadata"]["uid"] for one in left if not is_terminating(one)} == before
    assert simulation.world.get(SET, NAME)["metadata"]["finalizers"] == ["orphan"]


@pytest.mark.parametrize(("kind", "name"), [(CLIQUE, f"{NAME}-0-front"), (CLIQUE, f"{NAME}-0-sg-0-pre"), (GROUP, f"{NAME}-0-sg")])
def test_while_a_part_of_a_set_is_being_orphaned_nothing_of_it_goes(kind: Kind, name: str) -> None:
    simulation = running()
    before = {one["metadata"]["uid"] for one in simulation.world.pods(name)}
    part = simulation.world.get(kind, name)
    going = {"deletionTimestamp": "2027-01-15T09:00:00Z", "finalizers": ["orphan"]}
    simulation.world.put({**part, "metadata": {**part["metadata"], **going}})
    simulation.settle()
    simulation.operator.restart()
    simulation.settle()
    assert {one["metadata"]["uid"] for one in simulation.world.pods(name) if not is_terminating(one)} == before


@pytest.fixture(params=[False, True], ids=["it goes on", "it is restarted"])
def alone(request: pytest.FixtureRequest) -> Iterator[tuple[Simulation, list[Manifest]]]:
    simulation = running()
    pods = simulation.world.pods()
    left = orphaned(simulation)
    if request.param:
        simulation.operator.restart()
    simulation.settle()
    yield simulation, [*left, *pods]


def test_orphans_stay_as_kubernetes_promises(alone: tuple[Simulation, list[Manifest]]) -> None:
    simulation, left = alone
    assert there(simulation, *left) == [True] * len(left)


def test_a_set_of_that_name_later_deletes_none_of_them(alone: tuple[Simulation, list[Manifest]]) -> None:
    simulation, left = alone
    simulation.wait(60)
    simulation.world.apply(demo())
    simulation.settle()
    pods = [one for one in left if one["kind"] == "Pod"]
    assert there(simulation, *pods) == [True] * len(pods)


@pytest.mark.parametrize(("kind", "name"), [(SERVICE, f"{NAME}-1"), (CLIQUE, f"{NAME}-1-front"), (GROUP, f"{NAME}-1-sg")])
def test_what_the_set_owns_goes_when_it_is_not_wanted(kind: Kind, name: str) -> None:
    simulation = running(demo(replicas=2))
    simulation.edit(replicas(1))
    simulation.settle()
    assert simulation.world.find(kind, name) is None
    assert [one for one in simulation.world.all(POD) if one["metadata"]["name"].startswith(f"{NAME}-1-")] == []


@pytest.mark.parametrize("tenths", [0, 2, 5, 30])
def test_a_set_that_is_made_anew_comes_up_beside_what_goes(tenths: int) -> None:
    """Our finalizers are taken from the objects of the earlier set, which are not the new one's."""
    simulation = running(demo(replicas=2))
    MakeAnew(tenths).happen(simulation)
    simulation.settle()
    assert_all_ready(simulation)
    assert_no_orphan(simulation)


@pytest.mark.parametrize("seconds", [0, 30])
def test_what_an_earlier_set_of_the_name_has_left_is_told_if_it_stays(seconds: int) -> None:
    """As long as the garbage collector has not come; people would not know whose it is, and what to do."""
    simulation = running(demo())
    simulation.world.delete(SET, NAME)
    simulation.world.apply(demo())
    simulation.let_pass(5 + seconds)
    messages = stalled_of(simulation.world.get(SET, NAME))
    assert [f"exists, left by an earlier PodCliqueSet.grove.io/default/{NAME}, and" in message for message in messages] == [True] * bool(
        seconds
    )
    assert any("left by an earlier" in told for told in simulation.world.told) is bool(seconds)
    simulation.settle()
    simulation.wait(30)
    assert_all_ready(simulation)
    assert stalled_of(simulation.world.get(SET, NAME)) == []
