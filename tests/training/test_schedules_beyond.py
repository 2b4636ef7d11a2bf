"""Whatever happens to a job with all that goes beyond the design, and whatever people ask of it: the same holds as for any job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from applier.ref import Manifest
from tests.model.sets import clique, group
from tests.simulation.drawn import Draw, drawn
from tests.simulation.schedules import Die, Pass, Tick
from tests.simulation.simulation import Simulation, running
from tests.simulation.telling import telling
from tests.simulation.world import CLIQUE
from tests.suite.effort import runs
from tests.training.jobs import causes, failed_because, job, phase
from tests.training.test_schedules import JOB_DEEDS, JOB_GOES_ON, Action, Exit, Finish, get_well
from tests.training.watch import ENDS, watched_job

MAX_WAIT = 60
FATAL, FREE = 3, 2
"""Exit codes after which there is no restart, and of which one costs none."""


class Suspend(NamedTuple):
    """Somebody suspends the job, or resumes it."""

    to: bool

    def happen(self, simulation: Simulation) -> None:
        def edit(set: Manifest) -> None:
            set["spec"]["suspend"] = self.to

        simulation.edit(edit)


class Restart(NamedTuple):
    """Somebody asks for new attempts."""

    minute: int

    def happen(self, simulation: Simulation) -> None:
        def edit(set: Manifest) -> None:
            set["spec"]["trainingSpec"]["restartedAt"] = f"2026-11-23T10:{self.minute:02}:00Z"

        simulation.edit(edit)


def led() -> Manifest:
    """Two replicas of a leader and three ranks, with everything that is off by default."""
    limits: dict[str, Any] = {
        "maxRestarts": 3,
        "maxRuntime": "20m",
        "restartBackoff": {"initial": "5s", "maximum": f"{MAX_WAIT}s"},
        "failureRules": [{"action": "Fail", "exitCodes": [FATAL]}, {"action": "Ignore", "exitCodes": [FREE]}],
        "successCliques": ["lead"],
        "keepFinishedPods": {"onSuccess": False, "onRestart": True},
    }
    manifest = job([clique("lead"), clique("rank")], replicas=2, **limits)
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 3, 2)]
    return manifest


INTERVENTIONS: Sequence[Draw[Action | Suspend | Restart]] = (
    *JOB_DEEDS,
    lambda draw: Suspend(draw.random() < 0.5),
    lambda draw: Suspend(draw.random() < 0.5),
    lambda draw: Restart(draw.randint(0, 59)),
)


def schedule_beyond(number: int) -> list[Action | Suspend | Restart]:
    """Draws a schedule of a job that people suspend, resume and restart."""
    return drawn(number, JOB_GOES_ON, INTERVENTIONS)


NUMBERS = telling(schedule_beyond, runs(9))


def play(simulation: Simulation, schedule: Sequence[Action | Suspend | Restart]) -> None:
    """Lets all of a schedule happen, and then what is left: the job is resumed, and programs that run come to a good end."""
    watched_job(simulation)
    for action in schedule:
        action.happen(simulation)
    Suspend(to=False).happen(simulation)
    get_well(simulation)
    for _ in range(4):
        for pod in simulation.world.pods():
            simulation.machines.exit(pod)
        simulation.wait(MAX_WAIT + 15)
    assert phase(simulation) in ENDS
    assert not [pod for pod in simulation.world.pods() if pod["status"]["phase"] in ("Pending", "Running")]
    if phase(simulation) == "Succeeded":
        leaders = [one for one in simulation.world.all(CLIQUE) if one["metadata"]["name"].endswith("-lead")]
        assert {one["status"]["succeededIndexes"] for one in leaders} == {"0"}
        assert simulation.world.pods() == []
    if failed_because(simulation) == ["FailureRule"]:
        assert "PodFailed" in causes(simulation)
    simulation.close()


@pytest.mark.parametrize("number", NUMBERS)
def test_any_schedule_keeps_to_the_budget_and_comes_to_one_end(number: int) -> None:
    play(running(led()), schedule_beyond(number))


@pytest.mark.parametrize("number", NUMBERS)
def test_any_schedule_does_so_with_two_operators_of_which_one_leads(number: int) -> None:
    play(running(led(), candidates=2), schedule_beyond(number))


def test_a_job_that_is_suspended_while_an_operator_dies_keeps_to_it() -> None:
    play(
        running(led()),
        [Suspend(to=True), Die(3, 0), Pass(50), Tick(), Exit(2, FREE), Suspend(to=False), Pass(20), Tick(), Restart(1), Finish(0)],
    )


def test_a_job_that_is_suspended_after_its_end_keeps_to_it() -> None:
    late: list[Action | Suspend | Restart] = [
        Exit(0, 1),
        Pass(30),
        Exit(1, FATAL),
        Tick(),
        Tick(),
        Pass(100),
        Suspend(to=True),
        Pass(10),
        Restart(7),
        Suspend(to=False),
    ]
    play(running(led(), candidates=2), late)
