"""A set with an edit that cannot be goes on as its last valid spec wants it: what is lost otherwise comes again (decisions §10)."""

from __future__ import annotations

import pytest

from applier.ref import Manifest
from grove_operator.controller.waiting import waits_of
from tests.simulation.sets import equipped, image, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.world import AUTOSCALER, CLIQUE, GROUP, POD, SET, is_ready
from tests.step.world import context
from tests.updates.test_immutable import CASES, FRONT, SG, TEMPLATE, Edit, at, serving, stalled, training

IN_ORDER = at(f"{TEMPLATE}/cliqueStartupType", "CliqueStartupTypeInOrder")


def held(*edits: Edit, of: Manifest | None = None) -> Simulation:
    simulation = running(of or serving())
    simulation.edit(*edits)
    simulation.settle()
    assert stalled(simulation).startswith("the last valid spec stays in effect")
    return simulation


def lose(simulation: Simulation, prefix: str) -> Manifest:
    lost = simulation.world.pods(prefix)[0]
    simulation.world.delete(POD, lost["metadata"]["name"])
    simulation.settle()
    return lost


def ready(simulation: Simulation, prefix: str = "") -> int:
    return sum(map(is_ready, simulation.world.pods(prefix)))


@pytest.mark.parametrize("name", CASES)
def test_a_lost_pod_comes_again_as_it_was(name: str) -> None:
    make, edit = CASES[name]
    simulation = held(edit, of=make())
    before = simulation.world.pods()
    lost = lose(simulation, "demo-0")
    again = simulation.world.pods()
    assert ready(simulation) == len(before) == len(again)
    assert {one["spec"].get("schedulerName") for one in again} == {lost["spec"].get("schedulerName")}
    assert [len(one["spec"].get("initContainers", ())) for one in again] == [len(one["spec"].get("initContainers", ())) for one in before]


def test_it_comes_from_the_template_before_where_the_edit_changes_that_too() -> None:
    simulation = held(IN_ORDER, image("new"))
    lose(simulation, "demo-0-front")
    lose(simulation, "demo-0-sg-0-pre")
    assert (ready(simulation), simulation.images()) == (serving_pods(), {"busybox"})


def serving_pods() -> int:
    return len(running(serving()).world.pods())


def test_nothing_is_scaled_in_and_the_mended_edit_does_it() -> None:
    simulation = held(IN_ORDER, at("spec/replicas", 1), of=serving() | {"spec": {**serving()["spec"], "replicas": 2}})
    assert ready(simulation) == 2 * serving_pods()
    simulation.edit(at(f"{TEMPLATE}/cliqueStartupType", "CliqueStartupTypeAnyOrder"))
    simulation.settle()
    assert (stalled(simulation), ready(simulation)) == ("", serving_pods())


def test_a_group_that_somebody_scales_is_followed_out_and_in_once_the_edit_is_mended() -> None:
    simulation = held(IN_ORDER)
    simulation.edit(replicas(3), kind=GROUP, name="demo-0-sg")
    simulation.settle()
    assert ready(simulation, "demo-0-sg-2") == 3
    simulation.edit(replicas(1), kind=GROUP, name="demo-0-sg")
    simulation.settle()
    assert ready(simulation, "demo-0-sg-2") == 3
    simulation.edit(at(f"{TEMPLATE}/cliqueStartupType", "CliqueStartupTypeAnyOrder"))
    simulation.settle()
    assert (ready(simulation, "demo-0-sg-0"), simulation.world.pods("demo-0-sg-1"), simulation.world.pods("demo-0-sg-2")) == (3, [], [])


def test_a_roll_on_its_way_ends_with_the_template_that_was_valid() -> None:
    simulation = running(serving())
    simulation.edit(image("good"))
    simulation.run_operator()
    simulation.edit(IN_ORDER, image("never"))
    simulation.settle()
    assert stalled(simulation)
    assert simulation.images() == {"good"}
    assert simulation.status()["updateProgress"]["updateEndedAt"]


def test_a_gang_that_stays_short_is_restarted_and_the_edit_is_no_reason_for_another() -> None:
    simulation = held(IN_ORDER)
    simulation.machines.room = 0
    pods = simulation.world.pods("demo-0-front")
    for one in pods:
        simulation.world.delete(POD, one["metadata"]["name"])
    simulation.settle()
    simulation.wait(5 * 3600)
    simulation.machines.room = 1000
    simulation.settle()
    assert ready(simulation) == serving_pods()


def test_what_waits_meanwhile_is_told_beside_why_the_edit_is_held() -> None:
    simulation = held(IN_ORDER)
    simulation.machines.room = 0
    lose(simulation, "demo-0-front")
    simulation.wait(60)
    set = simulation.world.get(SET, "demo")
    waits = waits_of(set, simulation.world.cluster.store.objects.values(), [], context(), simulation.world.now)
    assert {"Held", "Unschedulable"} <= {wait.reason for wait in waits}
    assert ["the last valid spec stays in effect" in wait.message for wait in waits if wait.reason == "Held"] == [True]


def test_scaling_groups_and_cliques_that_are_taken_away_stay_at_their_size_with_their_autoscalers() -> None:
    simulation = running(equipped())
    simulation.edit(replicas(3), kind=GROUP, name="demo-0-sg")
    simulation.edit(replicas(4), kind=CLIQUE, name="demo-0-front")
    simulation.settle()
    before = len(simulation.world.pods())
    autoscalers = simulation.world.all(AUTOSCALER)
    assert len(autoscalers) == 4
    simulation.edit(lambda now: now["spec"]["template"]["cliques"].pop(0), at(f"{SG}/name", "other"))
    simulation.settle()
    lose(simulation, "demo-0-front")
    lose(simulation, "demo-0-sg-2")
    assert ready(simulation) == before
    assert [one["spec"] for one in simulation.world.all(AUTOSCALER)] == [one["spec"] for one in autoscalers]


def test_a_set_that_was_never_valid_is_held_as_a_whole() -> None:
    simulation = Simulation()
    set = serving()
    at(f"{FRONT}/spec/minAvailable", 9)(set)
    simulation.world.apply(set)
    simulation.settle()
    assert stalled(simulation).startswith("nothing is changed")
    assert simulation.world.pods() == []


def test_a_failed_training_pod_restarts_its_attempt_as_ever() -> None:
    simulation = held(at(f"{FRONT}/spec/replicas", 3), of=training())
    simulation.machines.exit(simulation.world.pods("demo-0-work")[0], 1)
    simulation.settle()
    simulation.wait(60)
    assert (ready(simulation), simulation.status()["restartCount"]) == (3, 1)
