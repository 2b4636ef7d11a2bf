"""An object that is not ours keeps its name and all that it has: we wait, say so, and go on when it is gone or handed over."""

from __future__ import annotations

import copy
from functools import cache
from random import Random
from typing import Any

import pytest

from applier.errors import WriteConflict
from applier.ref import Kind, Manifest, Ref
from applier.testing.memory.faults import MemoryRequest
from grove_compiler.model.inputs.settings import Settings
from tests.controller.test_held_is_told import stalled_of
from tests.model.sets import clique, pcs
from tests.simulation.sets import NAME, demo, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready
from tests.simulation.world import CLIQUE, EVENT, NAMESPACE, POD, SET
from tests.step.world import context

LABELS = {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": NAME}
SHAPES: dict[str, Manifest] = {
    "plain": {},
    "with our labels": {"labels": LABELS},
    "of another controller": {
        "labels": LABELS,
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "db", "uid": "another", "controller": True}],
    },
}


def small() -> Manifest:
    """A set of one object of most kinds, and of four pods."""
    return demo(front=1, members=1)


@cache
def made() -> dict[str, Manifest]:
    """One object of each kind that comes of the set, by kind, without what only its creation tells."""
    simulation = running(small())
    uid = simulation.world.get(SET, NAME)["metadata"]["uid"]
    owned: dict[str, Manifest] = {}
    for one in simulation.world.cluster.store.objects.values():
        owners = one["metadata"].get("ownerReferences") or []
        if owners and (owners[0]["uid"] == uid or one["kind"] == "Pod"):
            owned.setdefault(one["kind"], one)
    return owned


def foreign(kind: str, **metadata: Any) -> Manifest:
    """Somebody else's object by the name of one of ours, with something in it that would be lost."""
    model = made()[kind]
    place = {"name": model["metadata"]["name"], "namespace": NAMESPACE}
    return {"apiVersion": model["apiVersion"], "kind": kind, "metadata": {**place, **copy.deepcopy(metadata)}, "data": {"theirs": "kept"}}


def as_it_was(simulation: Simulation, one: Manifest) -> bool:
    live = simulation.world.cluster.find(Ref.of(one))
    return live is not None and (live["metadata"]["uid"], live["metadata"]["resourceVersion"]) == (
        one["metadata"]["uid"],
        one["metadata"]["resourceVersion"],
    )


def seeded(simulation: Simulation, one: Manifest) -> Manifest:
    simulation.world.cluster.seed(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "db", "namespace": NAMESPACE, "uid": "another"}}
    )
    simulation.world.cluster.seed(one, manager="helm")
    live = simulation.world.cluster.find(Ref.of(one))
    assert live is not None
    return live


def events(simulation: Simulation) -> list[str]:
    return [one["message"] for one in simulation.world.all(EVENT) if one["involvedObject"]["kind"] == "PodCliqueSet"]


def told(simulation: Simulation) -> list[str]:
    return stalled_of(simulation.world.get(SET, NAME))


@pytest.fixture(params=SHAPES)
def shape(request: pytest.FixtureRequest) -> Manifest:
    return SHAPES[request.param]


KINDS = ("ControllerRevision", "PodClique", "PodCliqueScalingGroup", "PodGang", "Role", "RoleBinding", "Secret", "Service")


def test_every_kind_that_the_set_makes_is_tried() -> None:
    assert sorted(made()) == sorted([*KINDS, "Pod", "ServiceAccount"])


def test_the_set_goes_on_saying_so_while_a_status_is_computed_again() -> None:
    """Somebody else was quicker to write the set: nothing is tried then, and nothing new is known of what holds it."""
    simulation = Simulation()
    seeded(simulation, foreign("ServiceAccount"))
    simulation.world.apply(small())
    simulation.settle()
    began = simulation.world.version
    simulation.world.cluster.fail(_is_status_of_set, WriteConflict(409, "Conflict", "the object has been modified"), times=3)
    simulation.edit(replicas(2))
    simulation.settle()
    versions = [new for ref, _, new in simulation.world.changes_since(began) if ref.kind == SET.kind and new is not None]
    assert len(versions) > 1
    assert [len(stalled_of(one)) for one in versions] == [1] * len(versions)


def _is_status_of_set(request: MemoryRequest) -> bool:
    return (request.verb, request.ref.kind, request.subresource) == ("apply", SET.kind, "status")


@pytest.mark.parametrize("kind", [*KINDS, "ServiceAccount"])
def test_it_stays_as_it_is_and_the_set_says_whose_it_is(kind: str, shape: Manifest) -> None:
    simulation = Simulation()
    there = seeded(simulation, foreign(kind, **shape))
    simulation.world.apply(small())
    simulation.settle()
    name = there["metadata"]["name"]
    maker = "created by helm" if not shape.get("ownerReferences") else "of ConfigMap/default/db"
    assert [f"{name} exists, {maker}, and is left unchanged" in message for message in told(simulation)] == [True]
    simulation.edit(replicas(2))
    simulation.settle()
    simulation.operator.restart()
    simulation.settle()
    assert as_it_was(simulation, there)
    assert any(f"{name} exists, {maker}" in message for message in events(simulation))
    simulation.world.delete(SET, NAME)
    simulation.settle()
    assert as_it_was(simulation, there)


@pytest.mark.parametrize("kind", [*KINDS, "ServiceAccount"])
def test_once_it_is_gone_the_set_starts_within_seconds(kind: str, shape: Manifest) -> None:
    simulation = Simulation()
    there = seeded(simulation, foreign(kind, **shape))
    simulation.world.apply(small())
    simulation.settle()
    api = there["apiVersion"].rpartition("/")
    simulation.world.delete(Kind(api[0], api[2], kind), there["metadata"]["name"])
    simulation.wait(10)
    assert_all_ready(simulation)
    assert told(simulation) == []


def test_a_pod_that_has_the_name_of_one_of_ours_stays_and_ours_gets_another(shape: Manifest, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation()
    theirs: list[Manifest] = []
    create = simulation.world.cluster.create

    async def too_late(resource: Any, manifest: Manifest, **options: Any) -> Manifest:
        if resource.kind.kind == "Pod" and not theirs:
            metadata = {**copy.deepcopy(shape), "name": manifest["metadata"]["name"], "namespace": NAMESPACE}
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "debug", "image": "busybox"}]}}
            theirs.append(seeded(simulation, pod))
        return await create(resource, manifest, **options)

    monkeypatch.setattr(simulation.world.cluster, "create", too_late)
    simulation.world.apply(small())
    simulation.settle()
    simulation.operator.restart()
    simulation.settle()
    [there] = theirs
    assert simulation.world.get(POD, there["metadata"]["name"])["metadata"]["uid"] == there["metadata"]["uid"]
    assert told(simulation) == []
    simulation.world.delete(POD, there["metadata"]["name"])
    simulation.wait(10)
    assert_all_ready(simulation)
    assert told(simulation) == []


def test_what_is_handed_over_is_ours() -> None:
    simulation = Simulation()
    there = seeded(simulation, foreign("ServiceAccount"))
    simulation.world.apply(demo())
    simulation.settle()
    simulation.world.cluster.seed({**there, "metadata": {**there["metadata"], "labels": LABELS}}, manager="grove-operator")
    simulation.wait(10)
    assert_all_ready(simulation)
    assert told(simulation) == []


def test_of_two_sets_whose_names_collide_the_older_one_runs_and_the_newer_one_says_why_it_does_not() -> None:
    """`a` with a clique `0-c`, and `a-0` with a clique `c`: both want a PodClique `a-0-0-c`."""
    simulation = Simulation(context(Settings(pods=True, is_operator=True)))
    older, newer = (named(pcs([clique(of, 2)]), name) for name, of in (("a", "0-c"), ("a-0", "c")))
    simulation.world.apply(older)
    simulation.settle()
    pods = {pod["metadata"]["uid"] for pod in simulation.world.pods()}
    simulation.world.apply(newer)
    simulation.settle()
    simulation.operator.restart()
    simulation.settle()
    assert {pod["metadata"]["uid"] for pod in simulation.world.pods()} == pods
    assert stalled_of(simulation.world.get(SET, "a")) == []
    [message] = stalled_of(simulation.world.get(SET, "a-0"))
    assert "PodClique.grove.io/default/a-0-0-c exists, of PodCliqueSet.grove.io/default/a, and is left unchanged" in message
    simulation.world.delete(SET, "a")
    simulation.wait(10)
    assert stalled_of(simulation.world.get(SET, "a-0")) == []
    assert len(simulation.world.pods()) == 2


@pytest.mark.parametrize("seed", [0, 1, 3, 10])
def test_of_two_sets_made_in_one_moment_that_share_out_the_names_that_both_want_one_runs(seed: int) -> None:
    """Answers are slow, and each set gets some of three PodCliques before it is told that the other has the rest."""
    simulation = Simulation(context(Settings(pods=True, is_operator=True)))
    simulation.network.latency, simulation.network.chance = 5.0, Random(seed)
    both = [named(pcs([clique(of + each, 1) for each in "cde"]), name) for name, of in (("a", "0-"), ("a-0", ""))]
    for one in both if seed % 2 else reversed(both):
        simulation.world.apply(one)
    for _ in range(60):
        simulation.let_pass(3)
        simulation.machines.tick()
    simulation.network.calm_down()
    simulation.settle()
    simulation.operator.restart()
    simulation.settle()
    [[message]] = filter(None, (stalled_of(simulation.world.get(SET, name)) for name in ("a", "a-0")))
    assert "and is left unchanged" in message
    assert_all_ready(simulation)
    assert len(simulation.world.pods()) == 3
    [runs] = {one["metadata"]["ownerReferences"][0]["name"] for one in simulation.world.all(CLIQUE)}
    simulation.world.delete(SET, runs)
    simulation.wait(20)
    assert_all_ready(simulation)
    assert len(simulation.world.pods()) == 3


def named(set: Manifest, name: str) -> Manifest:
    return {**set, "metadata": {**set["metadata"], "name": name}}
