"""OnDelete: templates are there at once, people replace pods, and we only those without a node (shipped §7.5b)."""

from __future__ import annotations

import pytest

from tests.simulation.admission import REFUSED
from tests.simulation.sets import FRONT, PRE, demo, image, replicas, strategy
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready
from tests.simulation.world import CLIQUE, GROUP, POD, is_ready


@pytest.fixture
def edited() -> Simulation:
    """A set whose pods are replaced by hand, after an edit of two cliques."""
    manifest = demo()
    strategy("OnDelete")(manifest)
    simulation = running(manifest)
    simulation.edit(image("new", FRONT, PRE))
    simulation.settle()
    return simulation


def test_no_pod_is_deleted_by_us(edited: Simulation) -> None:
    assert edited.operator.deleted == []
    assert edited.images() == {"busybox"}


def test_podcliques_have_the_new_template_at_once(edited: Simulation) -> None:
    images = {one["metadata"]["name"]: one["spec"]["podSpec"]["containers"][0]["image"] for one in edited.world.all(CLIQUE)}
    assert {name: image for name, image in images.items() if image != "new"} == {f"demo-0-sg-{index}-dec": "busybox" for index in range(3)}


def test_a_pod_that_somebody_deletes_comes_back_with_the_new_template(edited: Simulation) -> None:
    edited.world.delete(POD, edited.world.pods("demo-0-front")[0]["metadata"]["name"])
    edited.settle()
    assert edited.images("demo-0-front") == {"busybox", "new"}
    assert edited.status(CLIQUE, "demo-0-front")["updatedReplicas"] == 1
    assert_all_ready(edited)


def test_the_update_is_told_to_be_over_as_soon_as_it_begins(edited: Simulation) -> None:
    for status in (edited.status(), edited.status(CLIQUE, "demo-0-sg-1-dec"), edited.status(GROUP, "demo-0-sg")):
        progress = status["updateProgress"]
        assert progress["updateEndedAt"] == progress["updateStartedAt"]
    assert "currentlyUpdating" not in edited.status()["updateProgress"]


def test_what_runs_is_told_and_not_what_is_declared(edited: Simulation) -> None:
    """As recorded of the shipped operator."""
    front, dec = (edited.status(CLIQUE, name) for name in ("demo-0-front", "demo-0-sg-0-dec"))
    generation = edited.status()["currentGenerationHash"]
    assert front["currentPodCliqueSetGenerationHash"] != generation == dec["currentPodCliqueSetGenerationHash"]
    assert (front["updatedReplicas"], dec["updatedReplicas"]) == (0, 1)
    assert front["updateProgress"]["podCliqueSetGenerationHash"] == generation


def test_once_all_are_replaced_by_hand_the_set_is_up_to_date(edited: Simulation) -> None:
    for pod in edited.world.pods():
        edited.world.delete(POD, pod["metadata"]["name"])
        edited.settle()
    assert edited.status()["updatedReplicas"] == 1
    assert edited.status(CLIQUE, "demo-0-front")["currentPodCliqueSetGenerationHash"] == edited.status()["currentGenerationHash"]


def test_what_was_told_of_an_update_by_hand_is_taken_back_by_one_that_rolls(edited: Simulation) -> None:
    """A replica of a scaling group tells of no update of its own when it rolls, and must not tell of an older one for ever."""
    edited.edit(strategy("RollingRecreate"))
    edited.settle()
    edited.edit(image("newer"))
    edited.settle()
    assert edited.images() == {"newer"}
    members = [one["status"] for one in edited.world.all(CLIQUE) if "-sg-" in one["metadata"]["name"]]
    assert [status for status in members if "updateProgress" in status] == []
    generation = edited.status()["currentGenerationHash"]
    assert {status["currentPodCliqueSetGenerationHash"] for status in members} == {generation}


def test_scaling_in_takes_pods_of_the_old_template_first(edited: Simulation) -> None:
    edited.world.delete(POD, edited.world.pods("demo-0-front")[0]["metadata"]["name"])
    edited.settle()
    edited.edit(replicas(1), kind=CLIQUE, name="demo-0-front")
    edited.settle()
    assert edited.images("demo-0-front") == {"new"}


def briefly_tolerant() -> Simulation:
    """A set whose pods are replaced by hand, which needs all of them, and whose gangs have a minute to recover."""
    manifest = demo(front=3, members=2, terminationDelay="1m0s")
    strategy("OnDelete")(manifest)
    manifest["spec"]["template"]["cliques"][FRONT]["spec"]["minAvailable"] = 3
    manifest["spec"]["template"]["podCliqueScalingGroups"][0]["minAvailable"] = 2
    return running(manifest)


@pytest.mark.parametrize("clique", ["demo-0-front", "demo-0-sg-1-pre"])
@pytest.mark.parametrize("tag", ["nowhere", REFUSED, "broken"])
def test_for_an_edit_that_cannot_work_no_gang_is_restarted(clique: str, tag: str) -> None:
    """It would bring the edit to all pods of the gang, which people do one by one here to see whether it works."""
    simulation = briefly_tolerant()
    simulation.edit(image(tag))
    simulation.settle()
    lost = simulation.world.pods(clique)[0]["metadata"]
    simulation.world.delete(POD, lost["name"])
    before = {one["metadata"]["uid"] for one in simulation.world.pods()} - {lost["uid"]}
    simulation.settle()
    simulation.wait(600)
    assert before <= {one["metadata"]["uid"] for one in simulation.world.pods()}
    assert [one for one in simulation.world.told if one.startswith("GangTerminat")] == []


@pytest.mark.parametrize("clique", ["demo-0-front", "demo-0-sg-1-pre"])
def test_a_gang_that_loses_pods_of_the_old_template_is_restarted_as_ever(clique: str) -> None:
    simulation = briefly_tolerant()
    simulation.edit(image("new"))
    simulation.settle()
    simulation.machines.failing.add(simulation.world.pods(clique)[0]["metadata"]["uid"])
    simulation.settle()
    simulation.wait(60)
    assert len(simulation.deleted("GangTermination")) == 9
    assert simulation.images() == {"new"}
    assert_all_ready(simulation)


@pytest.mark.parametrize("needed", [1, 2])
@pytest.mark.parametrize("tag", ["nowhere", REFUSED, "broken"])
def test_an_update_that_is_paused_where_it_cannot_go_on_costs_no_more_than_it_had(tag: str, needed: int) -> None:
    """`grove rollout pause` leaves what is not replaced yet to people. What lacks pods then lacks them for the update."""
    manifest = demo(front=3, members=2, terminationDelay="1m0s")
    manifest["spec"]["template"]["cliques"][FRONT]["spec"]["minAvailable"] = 3
    manifest["spec"]["template"]["podCliqueScalingGroups"][0]["minAvailable"] = needed
    simulation = running(manifest)
    simulation.edit(image(tag))
    simulation.settle()
    left = {one["metadata"]["uid"] for one in simulation.world.pods() if is_ready(one)}
    simulation.edit(strategy("OnDelete"))
    simulation.settle()
    simulation.wait(600)
    assert left == {one["metadata"]["uid"] for one in simulation.world.pods() if is_ready(one)}
    simulation.edit(strategy("RollingRecreate"), image("busybox"))
    simulation.settle()
    assert left <= {one["metadata"]["uid"] for one in simulation.world.pods()}
    assert_all_ready(simulation)


@pytest.mark.parametrize("tag", ["nowhere", REFUSED, "broken"])
def test_to_pause_and_resume_what_cannot_go_on_takes_no_further_pod(tag: str) -> None:
    simulation = running(demo(front=4, members=4))
    simulation.edit(image(tag))
    simulation.settle()
    left = {one["metadata"]["uid"] for one in simulation.world.pods() if is_ready(one)}
    for _ in range(3):
        simulation.edit(strategy("OnDelete"))
        simulation.settle()
        simulation.edit(strategy("RollingRecreate"))
        simulation.settle()
        assert left == {one["metadata"]["uid"] for one in simulation.world.pods() if is_ready(one)}
    simulation.edit(image("busybox"))
    simulation.settle()
    assert_all_ready(simulation)
    assert left <= {one["metadata"]["uid"] for one in simulation.world.pods()}


@pytest.mark.parametrize("clique", ["demo-0-front", "demo-0-sg-1-pre"])
def test_a_pod_that_fits_nowhere_is_replaced_once_its_edit_is_taken_back(clique: str) -> None:
    """Nobody has to delete what never ran, and nothing that runs is touched."""
    simulation = briefly_tolerant()
    simulation.edit(image("nowhere"))
    simulation.settle()
    simulation.world.delete(POD, simulation.world.pods(clique)[0]["metadata"]["name"])
    simulation.settle()
    running = {one["metadata"]["uid"] for one in simulation.world.pods() if is_ready(one)}
    assert len(running) == len(simulation.world.pods()) - 1
    simulation.edit(image("busybox"))
    simulation.settle()
    assert_all_ready(simulation)
    assert running < {one["metadata"]["uid"] for one in simulation.world.pods()}
    assert simulation.images() == {"busybox"}


def test_a_pod_that_has_a_node_waits_for_people() -> None:
    """It may be about to start: an image that is large is pulled for minutes."""
    simulation = briefly_tolerant()
    simulation.edit(image("broken"))
    simulation.settle()
    simulation.world.delete(POD, simulation.world.pods("demo-0-front")[0]["metadata"]["name"])
    simulation.settle()
    before = {one["metadata"]["uid"] for one in simulation.world.pods()}
    simulation.edit(image("busybox"))
    simulation.settle()
    assert {one["metadata"]["uid"] for one in simulation.world.pods()} == before
