"""A roll whose new pods fit nowhere takes one pod or unit, whatever is edited then, and waits; an update ends when all pods are ready."""

from __future__ import annotations

import pytest

from applier.ref import Manifest
from tests.invariants.serving import serving
from tests.model.sets import clique, group, pcs
from tests.simulation.admission import REFUSED
from tests.simulation.sets import DEC, NAME, PRE, image, replicas, size
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready
from tests.simulation.world import CLIQUE, GROUP, POD, SET, is_ready

ROLLING = "RollingUpdate"
SIZE = "GROVE_PCSG_TEMPLATE_NUM_PODS"

SETS: dict[str, tuple[Manifest, int]] = {
    "3 pods, 1 needed": (pcs([clique("front", 3, 1)]), 2),
    "4 pods, 1 needed": (pcs([clique("front", 4, 1)]), 3),
    "3 pods, 2 needed": (pcs([clique("front", 3, 2)]), 2),
    "3 pods, 3 needed": (pcs([clique("front", 3, 3)]), 2),
    "1 pod": (pcs([clique("front", 1, 1)]), 0),
    "a group of 3 x 2, 1 needed": (pcs([clique("work", 2)], [group("sg", ["work"], 3, 1)]), 4),
    "2 replicas of 3 pods": (pcs([clique("front", 3, 1)], replicas=2), 5),
    "a clique and a group": (pcs([clique("front", 2, 1), clique("work", 2)], [group("sg", ["work"], 2, 1)]), 3),
}
"""Each with how many of its pods are left to serve when a single pod or unit of each part is lost."""


def edit(simulation: Simulation, tag: str) -> None:
    """Somebody gives all pods another image."""
    simulation.edit(image(tag, *range(len(simulation.world.get(SET, NAME)["spec"]["template"]["cliques"]))))


def ready(simulation: Simulation) -> int:
    return sum(map(is_ready, simulation.world.pods()))


def uids(simulation: Simulation) -> set[str]:
    return {one["metadata"]["uid"] for one in simulation.world.pods() if is_ready(one)}


def has_ended(simulation: Simulation) -> bool:
    return "updateEndedAt" in simulation.status()["updateProgress"]


@pytest.fixture(params=list(SETS.values()), ids=list(SETS))
def case(request: pytest.FixtureRequest) -> tuple[Simulation, int]:
    manifest, left = request.param
    return running(manifest), left


def test_a_template_that_fits_nowhere_costs_one_pod(case: tuple[Simulation, int]) -> None:
    simulation, left = case
    edit(simulation, "nowhere")
    simulation.settle()
    simulation.wait(600)
    assert ready(simulation) == left
    assert not has_ended(simulation)


def test_a_second_template_that_fits_nowhere_costs_no_more(case: tuple[Simulation, int]) -> None:
    simulation, left = case
    for tag in ("nowhere", "nowhere-else", "nowhere"):
        edit(simulation, tag)
        simulation.settle()
    assert ready(simulation) == left


@pytest.mark.parametrize("rounds", range(1, 6))
def test_edits_in_the_middle_of_a_roll_cost_no_more(rounds: int) -> None:
    simulation = running(pcs([clique("front", 4, 1)], replicas=2))
    for tag in ("nowhere", "nowhere-else", "nowhere-at-all", "nowhere"):
        edit(simulation, tag)
        for _ in range(rounds):
            simulation.run_operator()
            simulation.machines.tick()
            simulation.let_pass(1)
    simulation.settle()
    assert ready(simulation) == 7


def test_a_template_that_is_put_back_restarts_nothing_more(case: tuple[Simulation, int]) -> None:
    simulation, _ = case
    edit(simulation, "nowhere")
    simulation.settle()
    left = uids(simulation)
    edit(simulation, "busybox")
    simulation.settle()
    assert left <= uids(simulation)
    assert_all_ready(simulation)
    assert has_ended(simulation)


@pytest.mark.parametrize("tag", ["nowhere", REFUSED])
@pytest.mark.parametrize("edited", [PRE, DEC])
def test_an_edit_that_is_put_back_restarts_nothing_that_waits_beside_its_pods(edited: int, tag: str) -> None:
    """Of a replica of a scaling group whose other cliques have the template that is declared now."""
    simulation = running()
    simulation.edit(image(tag, edited))
    simulation.settle()
    left = uids(simulation)
    simulation.edit(image("busybox", edited))
    simulation.settle()
    assert left <= uids(simulation)
    assert_all_ready(simulation)
    assert has_ended(simulation)


def test_what_waits_beside_pods_that_never_ran_is_replaced_where_it_knows_another_number_of_pods() -> None:
    simulation = running()
    simulation.edit(image("nowhere", DEC))
    simulation.settle()
    simulation.edit(image("busybox", DEC), size(2, DEC))
    simulation.settle()
    containers = [one["spec"]["containers"][0] for one in simulation.world.pods(f"{NAME}-0-sg-0")]
    assert [variable["value"] for one in containers for variable in one["env"] if variable["name"] == SIZE] == ["4"] * 4
    assert_all_ready(simulation)


def test_a_replica_in_which_an_outdated_pod_has_run_is_replaced_as_a_whole() -> None:
    simulation = running()
    simulation.edit(image("broken", DEC))
    simulation.settle()
    left = {one["metadata"]["uid"] for one in simulation.world.pods(f"{NAME}-0-sg-0")}
    simulation.edit(image("busybox", DEC))
    simulation.settle()
    assert not left & uids(simulation)
    assert_all_ready(simulation)


def test_a_template_that_is_mended_rolls_on(case: tuple[Simulation, int]) -> None:
    simulation, _ = case
    edit(simulation, "nowhere")
    simulation.settle()
    edit(simulation, "mended")
    simulation.settle()
    assert simulation.images() == {"mended"}
    assert_all_ready(simulation)
    assert has_ended(simulation)


def test_of_a_node_that_others_take_meanwhile_one_pod_is_lost(case: tuple[Simulation, int]) -> None:
    """Others wait in a full cluster, and are quicker than a successor."""
    simulation, left = case
    total = len(simulation.world.pods())
    edit(simulation, "new")
    for _ in range(30):
        simulation.run_operator()
        simulation.machines.room = sum("nodeName" in one["spec"] for one in simulation.world.pods())
        simulation.let_pass(1.2)
        simulation.machines.tick()
    assert ready(simulation) == left
    simulation.machines.room = total
    simulation.settle()
    assert_all_ready(simulation)
    assert simulation.images() == {"new"}


def test_an_update_has_not_ended_while_a_new_pod_is_not_ready() -> None:
    simulation = running(pcs([clique("front", 3, 1)]))
    simulation.machines.room = 2
    edit(simulation, "new")
    simulation.settle()
    for status in (simulation.status(), simulation.status(CLIQUE, f"{NAME}-0-front")):
        assert "updateEndedAt" not in status["updateProgress"]
    assert not [one for one in simulation.world.told if one.startswith("UpdateEnded")]


def test_a_group_has_not_been_updated_while_a_pod_beyond_its_minimum_is_not_ready() -> None:
    simulation = running(pcs([clique("work", 3, 1)], [group("sg", ["work"], 2, 1)]))
    simulation.machines.room = 5
    edit(simulation, "new")
    simulation.settle()
    assert "updateEndedAt" not in simulation.status(GROUP, f"{NAME}-0-sg")["updateProgress"]
    simulation.machines.room = 6
    simulation.settle()
    assert "updateEndedAt" in simulation.status(GROUP, f"{NAME}-0-sg")["updateProgress"]


def test_after_scaling_in_a_roll_needs_no_more_than_is_declared() -> None:
    simulation = running(pcs([clique("front", 4, 1)]))
    edit(simulation, "nowhere")
    simulation.settle()
    simulation.edit(replicas(2), kind=CLIQUE, name=f"{NAME}-0-front")
    edit(simulation, "mended")
    simulation.settle()
    assert_all_ready(simulation)
    assert simulation.images() == {"mended"}


def test_a_status_without_the_number_that_served_takes_no_further_pod() -> None:
    """The shipped operator's definitions have no field for it: a server that has these drops it."""
    simulation = running(pcs([clique("front", 3, 1)]))
    simulation.operator.after_write = lambda _: forget(simulation)
    edit(simulation, "nowhere")
    simulation.settle()
    assert serving(simulation.world)[f"{NAME}-0-front"] == 2


def forget(simulation: Simulation) -> None:
    live = simulation.world.get(CLIQUE, f"{NAME}-0-front")
    progress = live.get("status", {}).get("updateProgress", {})
    if "serving" in progress.get("readyPodsSelectedToUpdate", {}):
        selected = {key: value for key, value in progress["readyPodsSelectedToUpdate"].items() if key != "serving"}
        status = {**live["status"], "updateProgress": {**progress, "readyPodsSelectedToUpdate": selected}}
        simulation.world.put({**live, "status": status})


def test_a_set_that_is_deleted_in_the_middle_goes(case: tuple[Simulation, int]) -> None:
    simulation, _ = case
    edit(simulation, "nowhere")
    simulation.settle()
    simulation.world.delete(SET, NAME)
    simulation.settle()
    assert simulation.world.all(POD) == []
