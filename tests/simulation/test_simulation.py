"""Whatever happens in whatever order: nothing that must not happen does, and all ends as if it had been so from the start."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, example, given, settings

from applier.ref import Manifest
from tests.simulation.schedules import Action, Die, Edit, Look, Tick, play, schedules
from tests.simulation.sets import NAME, demo, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, assert_no_index_twice, assert_no_orphan, needs, serving
from tests.simulation.world import CLIQUE, GROUP, POD, SET

EXAMPLES = int(os.environ.get("SIMULATIONS", "25"))
"""How many random schedules there are; more where there is time."""
ROLLING = "RollingUpdate"


def watched(simulation: Simulation) -> Simulation:
    """After each write of the operator it is looked whether it was right."""
    before = serving(simulation)

    def check(reason: str) -> None:
        now = serving(simulation)
        if reason == ROLLING and simulation.operator.sees_all:
            least = needs(simulation)
            taken = {name: count for name, count in now.items() if count < before.get(name, count) and count < least[name]}
            assert not taken, f"an update takes what is needed: {taken} of {least}"
        assert_no_index_twice(simulation)
        before.clear()
        before.update(now)

    simulation.operator.after_write = check
    return simulation


def shapes(simulation: Simulation) -> dict[tuple[str, str], Any]:
    """What there is, without what differs from one world to the next: UIDs, names of pods, times, and how it came about."""
    names = {one["metadata"]["uid"]: one["metadata"]["name"] for one in simulation.world.cluster.store.objects.values()}
    shaped = {}
    for kind in (SET, CLIQUE, GROUP, POD):
        for one in simulation.world.all(kind):
            name = one["spec"]["hostname"] if kind == POD else one["metadata"]["name"]
            shaped[kind.kind, name] = _shape(one, names)
    return shaped


def _shape(one: Manifest, names: dict[str, str]) -> dict[str, Any]:
    metadata, status = one["metadata"], one.get("status", {})
    history = ("updateProgress", "observedGeneration")
    return {
        "labels": metadata.get("labels"),
        "owners": [names[owner["uid"]] for owner in metadata.get("ownerReferences", [])],
        "spec": one["spec"],
        "status": {key: value for key, value in status.items() if key not in (*history, "conditions")},
        "conditions": {condition["type"]: condition["status"] for condition in status.get("conditions", [])},
    }


def afresh(simulation: Simulation) -> Simulation:
    """Another world, in which what is declared here in the end was declared from the start."""
    fresh = Simulation()
    fresh.world.apply({**simulation.world.get(SET, NAME), "status": {}, "metadata": {"name": NAME, "namespace": "default"}})
    fresh.settle()
    for kind in (GROUP, CLIQUE):
        for one in fresh.world.all(kind):
            name = one["metadata"]["name"]
            fresh.edit(replicas(simulation.world.get(kind, name)["spec"]["replicas"]), kind=kind, name=name)
        fresh.settle()  # a group with another number of replicas has other PodCliques
    fresh.settle()
    return fresh


@settings(max_examples=EXAMPLES, deadline=None, derandomize="SIMULATIONS" not in os.environ, suppress_health_check=[HealthCheck.too_slow])
@given(schedules)
@example([Edit("second", ()), Look(0), Look(1), Tick(), Edit("third", (0,)), Look(1, pods_behind=5), Die(3), Look(1), Look(0)])
def test_any_schedule_ends_as_a_fresh_apply_does(schedule: list[Action]) -> None:
    simulation = watched(running(demo(replicas=2)))
    play(simulation, schedule)
    assert_all_ready(simulation)
    assert_no_orphan(simulation)
    assert simulation.images() == {"last"}
    assert shapes(simulation) == shapes(afresh(simulation))
