"""An edit of a number of replicas that is not taken over is told, and what others have scaled is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from applier.ref import Manifest
from grove_cli.queries.rollout.edits import restart
from tests.model.sets import clique, group, pcs
from tests.simulation.sets import image
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import CLIQUE, GROUP

GROUPED = pcs([clique("front", 3, 1), clique("unit", 2, 2)], podCliqueScalingGroups=[group("sg", ["unit"], 2, 1)])


def declare_pods(manifest: Manifest) -> None:
    manifest["spec"]["template"]["cliques"][0]["spec"]["replicas"] = 5


def declare_units(manifest: Manifest) -> None:
    manifest["spec"]["template"]["podCliqueScalingGroups"][0]["replicas"] = 4


def declare_size(manifest: Manifest) -> None:
    manifest["spec"]["template"]["cliques"][1]["spec"]["replicas"] = 3


EDITS: dict[str, tuple[Callable[[Manifest], None], str]] = {
    "pods": (
        declare_pods,
        "ReplicasKept: Keeping 3 replicas, although the set declares 5 now: that counts for new PodCliques only; "
        "kubectl scale podclique demo-0-front --replicas=5",
    ),
    "units": (
        declare_units,
        "ReplicasKept: Keeping 2 replicas, although the set declares 4 now: that counts for new scaling groups only; "
        "kubectl scale podcliquescalinggroup demo-0-sg --replicas=4",
    ),
    "pods of a unit": (
        declare_size,
        "ReplicasKept: Keeping 2 pods of clique unit, although the set declares 3 now: pods know how many they are, so that counts in a "
        "replica that is created or updated; grove rollout restart demo",
    ),
}


def told(simulation: Simulation) -> list[str]:
    return [one for one in simulation.world.told if one.startswith("ReplicasKept")]


@pytest.mark.parametrize(("edit", "said"), EDITS.values(), ids=EDITS)
def test_a_number_that_is_edited_in_the_set_changes_nothing_and_that_is_told_once(edit: Callable[[Manifest], None], said: str) -> None:
    simulation = running(GROUPED)
    pods = {pod["metadata"]["uid"] for pod in simulation.world.pods()}
    simulation.edit(edit)
    simulation.settle()
    simulation.operator.kill()
    simulation.operator.start()
    simulation.settle()
    assert {pod["metadata"]["uid"] for pod in simulation.world.pods()} == pods
    assert told(simulation) == [said]


def test_it_is_told_of_one_replica_for_all() -> None:
    simulation = running({**GROUPED, "spec": {**GROUPED["spec"], "replicas": 3}})
    simulation.edit(declare_pods)
    simulation.settle()
    assert told(simulation) == [f"{EDITS['pods'][1]}, and in other replicas alike"]


def test_what_somebody_has_scaled_is_not_told_to_differ() -> None:
    simulation = running(GROUPED)
    for kind, name in ((CLIQUE, "demo-0-front"), (GROUP, "demo-0-sg")):
        simulation.edit(lambda one: one["spec"].update(replicas=1), kind=kind, name=name)
    simulation.settle()
    simulation.edit(declare_pods)
    simulation.edit(declare_units)
    simulation.settle()
    assert told(simulation) == []


def test_what_an_autoscaler_scales_is_not_told_to_people() -> None:
    """It follows an edit of the number itself, which is its least one, and takes back what they scale."""
    autoscaled = pcs(
        [clique("front", 3, 1, autoScalingConfig={"maxReplicas": 6}), clique("unit", 2, 2)],
        [group("sg", ["unit"], 2, 1, scaleConfig={"maxReplicas": 6})],
    )
    simulation = running(autoscaled)
    simulation.edit(declare_pods)
    simulation.edit(declare_units)
    simulation.settle()
    assert told(simulation) == []


def test_a_number_of_pods_that_an_update_brings_is_not_told_to_be_kept() -> None:
    simulation = running(GROUPED)
    simulation.edit(declare_size, image("second", 0, 1))
    simulation.settle()
    assert told(simulation) == []
    assert [one["spec"]["replicas"] for one in simulation.world.all(CLIQUE)] == [3, 3, 3]


def test_a_restart_brings_the_number_of_pods_that_was_kept() -> None:
    simulation = running(GROUPED)
    simulation.edit(declare_size)
    simulation.settle()
    simulation.edit(lambda pcs: pcs.update(restart(pcs, simulation.loop.time()).applied_to(pcs)))
    simulation.settle()
    assert [one["spec"]["replicas"] for one in simulation.world.all(CLIQUE)] == [3, 3, 3]
    assert len(told(simulation)) == 1
