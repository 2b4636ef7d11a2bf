"""Admission that stores pods otherwise than they were written: it must cost no pod without end, be told, and be over when it is over."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from applier.errors import Forbidden
from applier.ref import Manifest
from grove_compiler.kube.conditions import is_true
from grove_compiler.labels import MANAGED_BY, OPERATOR
from tests.hostile.world import A_WHILE, serving, stalls
from tests.simulation.sets import demo
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, POD

PODS = 4
MINUTE, RETRY = 60, 75.0
"""Seconds, of which the second is longer than anything rests."""
MANY = 20
"""More pods than may be created for one in a minute."""
Mutate = Callable[[Manifest], None]
THEIRS = {"apiVersion": "v1", "kind": "ConfigMap", "name": "theirs", "uid": "theirs", "controller": True}


def label(name: str, value: str | None) -> Mutate:
    def mutate(pod: Manifest) -> None:
        pod["metadata"]["labels"].pop(name, None)
        if value is not None:
            pod["metadata"]["labels"][name] = value

    return mutate


def owners(*others: Manifest, **changed: Any) -> Mutate:
    """Adds owners, and changes the PodClique's entry; drops that without either."""

    def mutate(pod: Manifest) -> None:
        ours = [{**one, **changed} for one in pod["metadata"]["ownerReferences"]] if changed else []
        pod["metadata"]["ownerReferences"] = [*ours, *others]

    return mutate


def started(mutate: Mutate, *, on_each_write: bool) -> Simulation:
    """A set that comes up for a minute, where admission changes pods when they are created, or on each write."""
    simulation = Simulation()
    cluster, before = simulation.world.cluster, simulation.world.cluster.admit

    def admit(manifest: Manifest) -> Manifest:
        manifest = before(manifest)
        if manifest["kind"] == "Pod" and (on_each_write or simulation.world.find(POD, manifest["metadata"]["name"]) is None):
            mutate(manifest := copy.deepcopy(manifest))
        return manifest

    cluster.admit = admit
    simulation.world.apply(demo(front=1, members=1))
    work(simulation)
    cluster.admit = before
    return simulation


def work(simulation: Simulation) -> None:
    """Lets operators and machines work for a minute."""
    for _ in range(MINUTE // 2):
        simulation.let_pass(2)
        simulation.machines.tick()


def creations(simulation: Simulation) -> int:
    return sum(request.verb == "create" and request.resource.plural == "pods" for request in simulation.world.cluster.log)


def most_patches(simulation: Simulation) -> int:
    """How often the pod was patched that was patched most."""
    requests = simulation.world.cluster.log
    return max(Counter(one.name for one in requests if (one.verb, one.resource.plural) == ("patch", "pods")).values())


FEW = 15
"""Patches of a pod in the first minute: the pauses between them double, up to half a minute."""
FOUND_BY = ("app.kubernetes.io/managed-by", "grove.io/pod-template-hash")
"""The label by which pods are watched, and the one that tells whether a pod is outdated."""


@pytest.mark.parametrize("value", [None, "theirs"])
@pytest.mark.parametrize("name", FOUND_BY)
def test_labels_that_a_new_pod_has_lost_are_put_back_and_it_serves(name: str, value: str | None) -> None:
    simulation = started(label(name, value), on_each_write=False)
    assert (creations(simulation), len(serving(simulation)), stalls(simulation)) == (PODS, PODS, [])


@pytest.mark.parametrize("name", FOUND_BY)
def test_labels_that_no_write_puts_back_are_told_and_cost_no_pods_without_end(name: str) -> None:
    simulation = started(label(name, "theirs"), on_each_write=True)
    assert creations(simulation) == PODS
    assert most_patches(simulation) < FEW
    assert len(simulation.world.all(POD)) <= PODS
    assert any("admission webhook" in message for message in stalls(simulation))
    simulation.let_pass(RETRY)
    simulation.settle()
    assert (len(serving(simulation)), stalls(simulation)) == (PODS, [])


TAKEN = {
    "without an owner": owners(),
    "with an owner that does not control it": owners(controller=False),
    "controlled by another": owners(THEIRS, controller=False),
}


@pytest.mark.parametrize("mutate", TAKEN.values(), ids=TAKEN)
def test_a_pod_that_is_taken_from_its_clique_is_deleted_again_and_told(mutate: Mutate) -> None:
    """Nothing of ours would find it."""
    simulation = started(mutate, on_each_write=False)
    assert (creations(simulation) < PODS * MANY, simulation.world.all(POD)) == (True, [])
    assert any("an admission webhook changes metadata.ownerReferences" in message for message in stalls(simulation))
    simulation.let_pass(RETRY)
    simulation.settle()
    assert (len(serving(simulation)), stalls(simulation)) == (PODS, [])


def test_a_label_of_a_pod_that_no_write_puts_right_is_told_and_put_right_once_one_does() -> None:
    """The server stores nothing then, and no watch tells of it."""
    simulation = started(label("grove.io/podgang", "theirs"), on_each_write=True)
    assert any('an admission webhook sets other values: metadata.labels["grove.io/podgang"]' in message for message in stalls(simulation))
    simulation.let_pass(RETRY)
    simulation.settle()
    assert (len(serving(simulation)), stalls(simulation)) == (PODS, [])


def overridden(value: str | None) -> Simulation:
    """A set whose pods get this hash in each write."""
    simulation = Simulation()
    mutate, admit = label("grove.io/pod-template-hash", value), simulation.world.cluster.admit

    def override(manifest: Manifest) -> Manifest:
        if (manifest := admit(manifest))["kind"] == "Pod":
            mutate(manifest := copy.deepcopy(manifest))
        return manifest

    simulation.world.cluster.admit = override
    simulation.world.apply(demo(front=2, members=2))
    work(simulation)
    return simulation


def test_what_cannot_be_written_is_told_in_a_status_that_stays_whole() -> None:
    """A PodClique's is not written while gates of its pods are removed, and a condition alone would give up the rest: its update, say."""
    simulation = overridden("theirs")
    before = simulation.world.version
    simulation.edit(lambda one: one["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0].update(image="other"))
    work(simulation)
    states = [(old, new) for ref, old, new in simulation.world.changes_since(before) if ref.kind == CLIQUE.kind and old and new]
    assert any(is_true(new, "Stalled") for _, new in states)
    assert [new["status"] for old, new in states if old.get("status", {}).keys() - new["status"].keys() - PASSING] == []


def keeping_a_gate(strategy: str = "RollingRecreate") -> tuple[Simulation, list[str]]:
    """A set with a clique of three pods, the first of which keeps its gate; the names of the pods that do."""
    simulation = Simulation()
    admit, kept = simulation.world.cluster.admit, list[str]()

    def keep(manifest: Manifest) -> Manifest:
        if (manifest := admit(manifest))["kind"] == "Pod":
            kept[:] = kept or [manifest["metadata"]["name"]]
            if manifest["metadata"]["name"] in kept and not manifest["spec"].get("schedulingGates"):
                raise Forbidden(403, "Forbidden", "admission webhook denied the request: not today")
        return manifest

    simulation.world.cluster.admit = keep
    manifest = demo(front=3, members=1)
    manifest["spec"]["updateStrategy"] = {"type": strategy}
    simulation.world.apply(manifest)
    work(simulation)
    return simulation, kept


def status_of_front(simulation: Simulation) -> Manifest:
    [status] = [one["status"] for one in simulation.world.all(CLIQUE) if one["metadata"]["name"] == "demo-0-front"]
    return dict(status)


def test_a_gate_that_admission_keeps_is_told_in_a_status_that_counts_the_other_pods() -> None:
    """A PodClique's is not written while gates are removed: it had none for good, and nobody knew of the pods that serve."""
    simulation, kept = keeping_a_gate()
    status = status_of_front(simulation)
    assert (status["replicas"], status["readyReplicas"]) == (3, 2)
    [stalled] = [one for one in status["conditions"] if one["type"] == "Stalled"]
    assert "not today" in stalled["message"]
    kept[:] = ["nobody"]
    work(simulation)
    assert (len(serving(simulation)), stalls(simulation)) == (6, [])
    status = status_of_front(simulation)
    assert (status["readyReplicas"], [one for one in status["conditions"] if one["type"] == "Stalled"]) == (3, [])


@pytest.mark.parametrize(("strategy", "replaced"), [("RollingRecreate", 3), ("OnDelete", 1)])
def test_a_pod_whose_gate_admission_keeps_is_replaced_by_an_edit(strategy: str, replaced: int) -> None:
    """One that does what a policy wants of pods, say: it waited until the gate was removed."""
    simulation, _ = keeping_a_gate(strategy)
    simulation.edit(lambda one: one["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0].update(image="other"))
    work(simulation)
    work(simulation)
    images = [pod["spec"]["containers"][0]["image"] for pod in simulation.world.pods("demo-0-front")]
    assert (len(images), images.count("other")) == (3, replaced)
    assert (len(serving(simulation)), stalls(simulation)) == (6, [])


EACH = 3
"""Pods of an edited clique and of what is replaced with it, of two replicas of a scaling group."""


@pytest.mark.parametrize("value", [None, "theirs"])
@pytest.mark.parametrize(("edited", "replaced"), [(0, 2), (1, 2 * EACH)], ids=["a clique", "one of a scaling group"])
def test_an_edit_replaces_each_pod_once_whose_hash_nobody_can_put_right(value: str | None, edited: int, replaced: int) -> None:
    simulation = overridden(value)
    before = creations(simulation)
    simulation.edit(lambda one: one["spec"]["template"]["cliques"][edited]["spec"]["podSpec"]["containers"][0].update(image="other"))
    for _ in range(3):
        work(simulation)
    assert creations(simulation) - before == replaced
    names = [pod["spec"]["containers"][0]["image"] for pod in simulation.world.all(POD)]
    assert (names.count("other"), len(serving(simulation))) == (2 if edited == 0 else 4, len(names))


PASSING = {"currentPodTemplateHash", "currentPodCliqueSetGenerationHash"}
"""Fields of a status that say something by being there, and go."""


def test_one_more_owner_is_nobodys_business() -> None:
    simulation = started(owners({**THEIRS, "controller": False}, controller=True), on_each_write=False)
    assert (creations(simulation), len(serving(simulation)), stalls(simulation)) == (PODS, PODS, [])


@pytest.mark.parametrize("value", [None, "theirs"])
@pytest.mark.parametrize("is_new_process", [False, True], ids=["", "while nobody looks"])
def test_a_label_that_a_policy_sets_in_all_pods_that_run_is_put_back_and_none_is_replaced(value: str | None, is_new_process: bool) -> None:
    """Of these pods none has the name that is tried first for its index."""
    simulation = started(lambda _: None, on_each_write=False)
    for pod in simulation.world.all(POD):
        simulation.world.delete(POD, pod["metadata"]["name"])
    simulation.settle()
    before, pods = creations(simulation), serving(simulation)
    if is_new_process:
        simulation.operator.kill()
    for pod in simulation.world.all(POD):
        label(MANAGED_BY, value)(edited := copy.deepcopy(pod))
        simulation.world.put(edited)
    if is_new_process:
        simulation.operator.start()
    simulation.settle()
    simulation.wait(A_WHILE)
    assert (len(pods), serving(simulation), creations(simulation) - before, stalls(simulation)) == (PODS, pods, 0, [])
    assert {pod["metadata"]["labels"].get(MANAGED_BY) for pod in simulation.world.all(POD)} == {OPERATOR}
