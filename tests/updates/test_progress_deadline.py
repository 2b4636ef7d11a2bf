"""`rollingUpdate.progressDeadline`: an update that makes no progress says so, and goes on once it can."""

from __future__ import annotations

import pytest

from applier.ref import Manifest
from grove_cli.queries.rollout.progress import RolloutProgress, progress_of
from tests.model.sets import clique, group, pcs
from tests.simulation.sets import FRONT, image, strategy
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, watched
from tests.simulation.world import CLIQUE, GROUP, POD, SET
from tests.updates.test_immutable import Edit

PARTS = {FRONT: (CLIQUE, "demo-0-front"), 1: (GROUP, "demo-0-sg")}
OVER, GOES_ON, LATE = ("False", "NoActiveUpdate"), ("True", "Progressing"), ("Unknown", "ProgressDeadlineExceeded")


def limited(deadline: str | None = "5m") -> Manifest:
    limit = {} if deadline is None else {"rollingUpdate": {"progressDeadline": deadline}}
    return pcs([clique("front", 3, 1, **limit), clique("pre", 1)], [group("sg", ["pre"], 3, 1, **limit)])


def said(simulation: Simulation, edited: int) -> list[tuple[str, str] | None]:
    """The condition of what was edited, and that of the set."""
    kind, name = PARTS[edited]
    objects = [simulation.world.find(kind, name), simulation.world.find(SET, "demo")]
    conditions = [{one["type"]: one for one in (each or {}).get("status", {}).get("conditions", ())} for each in objects]
    found = [each.get("UpdateInProgress") for each in conditions]
    return [None if one is None else (one["status"], one["reason"]) for one in found]


@pytest.mark.parametrize("edited", [FRONT, 1], ids=["clique", "group"])
def test_815_an_update_that_makes_no_progress_is_late_until_it_does(edited: int) -> None:
    simulation = watched(running(limited()))
    assert said(simulation, edited) == [OVER, OVER]
    simulation.edit(image("nowhere", edited))
    simulation.wait(240)
    assert said(simulation, edited) == [GOES_ON, GOES_ON]
    simulation.wait(90)
    assert said(simulation, edited) == [LATE, LATE]
    assert [one for one in simulation.world.told if "makes no progress" in one] != []
    simulation.edit(image("new", edited))
    simulation.settle()
    assert_all_ready(simulation)
    assert said(simulation, edited) == [OVER, OVER]


@pytest.mark.parametrize("edited", [FRONT, 1], ids=["clique", "group"])
def test_a_set_that_waits_for_its_first_pods_is_not_being_updated(edited: int) -> None:
    simulation = watched(Simulation(room=2))
    simulation.world.apply(limited())
    simulation.wait(600)
    assert said(simulation, edited) == [OVER, OVER]


def test_what_happens_before_its_turn_and_while_it_is_paused_makes_no_update_late() -> None:
    simulation = watched(running(limited()))
    simulation.edit(image("nowhere", FRONT))
    simulation.wait(60)
    simulation.edit(strategy("OnDelete"))
    simulation.wait(600)
    assert LATE not in said(simulation, FRONT)


@pytest.mark.parametrize("edited", [FRONT, 1], ids=["clique", "group"])
def test_pods_that_fail_and_are_created_again_are_no_progress(edited: int) -> None:
    simulation = watched(running(limited()))
    simulation.edit(image("broken", edited))
    for _ in range(3):
        simulation.wait(130)
        for pod in simulation.world.all(POD):
            if pod["spec"]["containers"][0]["image"] == "broken":
                simulation.machines.exit(pod, 1)
    assert said(simulation, edited) == [LATE, LATE]


def test_a_set_without_a_deadline_has_no_such_condition() -> None:
    simulation = watched(running(limited(None)))
    simulation.edit(image("nowhere", FRONT))
    simulation.wait(600)
    assert said(simulation, FRONT) == [None, None]


def every_progress(simulation: Simulation) -> list[RolloutProgress]:
    """What `grove rollout status` tells after each write from now on."""
    told: list[RolloutProgress] = []
    check = simulation.operator.after_write

    def look(write: str) -> None:
        check(write)
        told.append(progress_of(simulation.world.get(SET, "demo"), simulation.world.all(CLIQUE)))

    simulation.operator.after_write = look
    return told


def later(manifest: Manifest) -> None:
    """An edit: all updates have an hour."""
    template = manifest["spec"]["template"]
    for one in (template["cliques"][FRONT], template["podCliqueScalingGroups"][0]):
        one["rollingUpdate"]["progressDeadline"] = "1h"


@pytest.mark.parametrize("edited", [FRONT, 1], ids=["clique", "group"])
@pytest.mark.parametrize("edit", [None, later], ids=["another template", "another deadline"])
def test_an_edit_of_a_late_update_is_never_late_because_of_what_was_said_before(edited: int, edit: Edit | None) -> None:
    simulation = watched(running(limited()))
    simulation.edit(image("nowhere", edited))
    simulation.wait(330)
    assert said(simulation, edited) == [LATE, LATE]
    told = every_progress(simulation)
    simulation.edit(edit or image("new", edited))
    simulation.settle()
    assert [one.state for one in told if one.is_late] == []
    assert told[-1].is_over == (edit is None)
