"""Somebody edits what the operator has made, into nonsense: no pod that serves goes, and soon all is as it was, or is told."""

from __future__ import annotations

import pytest

from tests.hostile import edits
from tests.hostile.edits import Edit
from tests.hostile.nonsense import Change, drop, owner, put
from tests.hostile.world import A_WHILE, OTHER, declared, differences, interfere, look, named, serving, stalls, two_sets
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, POD, SET
from tests.suite.effort import runs

HEALING = edits.heal(runs(40))
SECONDS = 15.0
"""Within which all goes on once a person has mended it."""


def settle_after(simulation: Simulation) -> None:
    simulation.settle()
    simulation.wait(A_WHILE)


def assert_all_well(simulation: Simulation) -> None:
    assert simulation.operator.held == {}
    assert stalls(simulation) == []


@pytest.mark.parametrize("edit", HEALING.values(), ids=HEALING.keys())
def test_all_is_soon_as_it_was(edit: Edit) -> None:
    """Whether the operator has seen how it was before, or a new process finds it so."""
    simulation = two_sets()
    before, pods = look(simulation), serving(simulation)
    if is_new_process := sum(map(ord, edit.name)) % 2 == 0:
        simulation.operator.kill()
    else:
        simulation.let_pass(1)
    interfere(simulation, *edit)
    if is_new_process:
        simulation.operator.start()
    settle_after(simulation)
    assert differences(before, look(simulation)) == []
    assert serving(simulation) == pods, "the very pods that served before"
    assert_all_well(simulation)


@pytest.mark.parametrize("edit", edits.FEWER_THAN_NONE.values(), ids=edits.FEWER_THAN_NONE.keys())
def test_fewer_than_none_is_no_scale(edit: Edit) -> None:
    """The number stays, since a number of replicas is left to autoscalers, takes nobody down, and is told."""
    simulation = two_sets()
    simulation.let_pass(1)
    pods = serving(simulation)
    interfere(simulation, *edit)
    settle_after(simulation)
    assert serving(simulation) == pods
    assert [one for one in simulation.world.told if one.startswith("NegativeReplicas: Running 2 replicas, as the set declares: -1 is ")]
    assert_all_well(simulation)


@pytest.mark.parametrize("what", ["a ControllerRevision is given to another set", *edits.some(edits.given_away(""), runs(4))])
def test_what_is_given_to_another_set_is_told_and_left_and_all_is_well_once_it_is_given_back(what: str) -> None:
    simulation = two_sets()
    edit = edits.given_away(simulation.world.get(SET, OTHER)["metadata"]["uid"])[what]
    simulation.let_pass(1)
    before, pods = look(simulation), serving(simulation)
    old = interfere(simulation, *edit)
    settle_after(simulation)
    assert serving(simulation) == pods
    assert any("is left unchanged" in one for one in stalls(simulation)), "a condition tells"
    assert any(one.startswith("Refused: ") for one in simulation.world.told), "an event tells"
    interfere(simulation, edit.kind, edit.name, put("metadata.ownerReferences", old["metadata"]["ownerReferences"]))
    simulation.let_pass(SECONDS)
    simulation.settle()
    assert differences(before, look(simulation)) == []
    assert serving(simulation) == pods
    assert_all_well(simulation)


@pytest.mark.parametrize("how", edits.LEAVES_THE_SET)
@pytest.mark.parametrize("is_new_process", [False, True], ids=["", "while nobody looks"])
def test_a_pod_that_somebody_takes_out_of_the_set_goes_on_and_the_set_is_whole(how: str, is_new_process: bool) -> None:
    """So one takes a pod out of a ReplicaSet. Where nobody has seen it go, its name leads to it, and it is taken back."""
    simulation = two_sets()
    pods = serving(simulation)
    if is_new_process:
        simulation.operator.kill()
    else:
        simulation.let_pass(1)
    interfere(simulation, POD, "demo-0-front", {**edits.METADATA, **edits.PODS}[how])
    if is_new_process:
        simulation.operator.start()
    settle_after(simulation)
    assert pods.keys() <= serving(simulation).keys()
    assert simulation.status(CLIQUE, "demo-0-front")["readyReplicas"] == 2
    assert all(not one["spec"]["schedulingGates"] for one in simulation.world.pods())
    assert_all_well(simulation)


@pytest.mark.parametrize("edit", [drop("metadata.ownerReferences"), owner(controller=False)], ids=["no owner", "an owner that is none"])
def test_a_pod_that_belongs_to_nobody_stays_and_the_set_is_whole(edit: Change) -> None:
    simulation = two_sets()
    simulation.let_pass(1)
    pods = serving(simulation)
    interfere(simulation, POD, "demo-0-front", edit)
    settle_after(simulation)
    assert pods.keys() <= serving(simulation).keys()
    assert simulation.status(CLIQUE, "demo-0-front")["readyReplicas"] == 2
    assert_all_well(simulation)


@pytest.mark.parametrize("is_owned", [False, True], ids=["", "that our PodClique owns and does not control"])
def test_a_strangers_pod_with_all_our_labels_is_nobodys_business(is_owned: bool) -> None:
    """Of which one is lost, whose index it has, the PodClique gets another one."""
    simulation = two_sets()
    simulation.let_pass(1)
    before, pods = look(simulation), serving(simulation)
    ours = named(simulation, POD, "demo-0-front")
    metadata = {"name": "theirs", "namespace": ours["metadata"]["namespace"], "labels": ours["metadata"]["labels"]}
    if is_owned:
        metadata["ownerReferences"] = [{**one, "controller": False} for one in ours["metadata"]["ownerReferences"]]
    simulation.world.put({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": ours["spec"]})
    settle_after(simulation)
    assert differences(before, look(simulation)) == []
    stranger = simulation.world.get(POD, "theirs")["metadata"]["uid"]
    assert serving(simulation).keys() - pods.keys() == {stranger}
    assert_all_well(simulation)
    simulation.world.delete(POD, ours["metadata"]["name"])
    simulation.settle()
    assert stranger in serving(simulation)
    assert len(serving(simulation)) == len(pods) + 1


DELETIONS = [
    (what, how) for what in (*edits.WATCHED, *edits.WRITTEN_ONCE, "a ControllerRevision") for how in ("Background", "Foreground", "Orphan")
]


@pytest.mark.parametrize(("what", "propagation"), edits.some(DELETIONS, runs(12)))
def test_what_somebody_deletes_is_made_again(what: str, propagation: str) -> None:
    """With all that it owned, and with nothing of others."""
    kind, name = {**edits.WATCHED, **edits.WRITTEN_ONCE, "a ControllerRevision": edits.RECORD}[what]
    simulation = two_sets()
    simulation.let_pass(1)
    before, pods = look(simulation), serving(simulation)
    live = named(simulation, kind, name)
    simulation.world.delete(kind, live["metadata"]["name"], propagation)
    settle_after(simulation)
    assert differences(before, look(simulation)) == []
    others = {uid: clique for uid, clique in pods.items() if not goes_along(what, clique)}
    assert others.items() <= serving(simulation).items()
    assert_all_well(simulation)


KEPT = {**edits.WATCHED, "a ControllerRevision": edits.RECORD, "a Secret": edits.TOKEN}


@pytest.mark.parametrize("what", edits.some(KEPT, runs(4)))
def test_what_a_finalizer_of_somebody_keeps_from_going_is_told_and_all_is_well_once_it_goes(what: str) -> None:
    """Here that of an earlier set of the name, so that the new one cannot have its own."""
    kind, name = KEPT[what]
    simulation = two_sets()
    simulation.let_pass(1)
    interfere(simulation, kind, name, edits.METADATA["has somebody's finalizer"])
    kept = named(simulation, kind, name)["metadata"]["name"]
    simulation.world.delete(SET, "demo")
    simulation.let_pass(1)
    simulation.world.apply(declared("demo"))
    settle_after(simulation)
    assert ["held by example.com/bills-are-paid, and is made anew once it is gone" in one for one in stalls(simulation)] == [True]
    assert any(one.startswith("Refused: ") and "bills-are-paid" in one for one in simulation.world.told), "an event tells"
    interfere(simulation, kind, name, drop("metadata.finalizers"))
    simulation.world.delete(kind, kept)
    settle_after(simulation)
    assert len([one for one in serving(simulation).values() if one.startswith("demo")]) == 8
    assert_all_well(simulation)


def goes_along(what: str, clique: str) -> bool:
    """Whether pods of a clique may go with something that is deleted."""
    of = {"a PodClique": "demo-0-front", "a pod": "demo-0-front", "a scaling group": "demo-0-sg"}
    return clique.startswith(of.get(what, "demo-0-sg-0-pre")) if what in (*of, "a PodClique of a group", "a pod of a group") else False
