"""Whatever happens to a job in whatever order: its budget is counted once, its end is for ever, and nothing begins after its deadline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from tests.model.sets import clique, group
from tests.simulation.drawn import BAD_LUCK, GOES_ON, Draw, drawn
from tests.simulation.network import NEVER
from tests.simulation.schedules import MAX_BACKOFF, Break, CutOff, Die, Fault, GoDown, Late, Lose, Pass, Slow, Tick
from tests.simulation.simulation import Simulation, running
from tests.simulation.telling import telling
from tests.simulation.world import CLIQUE, POD
from tests.suite.effort import runs
from tests.training.jobs import job, phase
from tests.training.watch import ENDS, watched_job


class Exit(NamedTuple):
    """The program of a pod ends."""

    pod: int
    code: int

    def happen(self, simulation: Simulation) -> None:
        pods = simulation.world.pods()
        if pods:
            simulation.machines.exit(pods[self.pod % len(pods)], self.code)


class Evict(NamedTuple):
    """The cluster takes a pod away."""

    pod: int

    def happen(self, simulation: Simulation) -> None:
        pods = simulation.world.pods()
        if pods:
            pod = pods[self.pod % len(pods)]
            conditions = pod.get("status", {}).get("conditions", [])
            simulation.world.report(pod, conditions=[*conditions, {"type": "DisruptionTarget", "status": "True", "reason": "Evicted"}])
            simulation.world.delete(POD, pod["metadata"]["name"])


class Finish(NamedTuple):
    """All pods of a replica that run exit with 0."""

    replica: int

    def happen(self, simulation: Simulation) -> None:
        for pod in simulation.world.pods(f"demo-{self.replica}"):
            simulation.machines.exit(pod)


Action = Exit | Evict | Finish | Pass | Tick | Lose | Die | CutOff | Slow | Late | Fault | Break | GoDown

JOB_GOES_ON: Sequence[Draw[Action]] = (*GOES_ON, lambda draw: Pass(draw.randint(0, 900)))
JOB_DEEDS: Sequence[Draw[Action]] = (
    lambda draw: Exit(draw.randint(0, 9), 0),
    lambda draw: Exit(draw.randint(0, 9), 0),
    lambda draw: Exit(draw.randint(0, 9), draw.randint(1, 3)),
    lambda draw: Finish(draw.randint(0, 1)),
    lambda draw: Evict(draw.randint(0, 9)),
    *BAD_LUCK,
)


def schedule_of_job(number: int) -> list[Action]:
    """Draws a schedule of a job."""
    return drawn(number, JOB_GOES_ON, JOB_DEEDS)


NUMBERS = telling(schedule_of_job, runs(9))


def ranks() -> dict[str, object]:
    """Two replicas of a leader and three ranks, of which one group is a gang of its own."""
    manifest = job([clique("lead"), clique("rank")], replicas=2, maxRestarts=3, maxRuntime="20m", ignoreDisruptions=True)
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 3, 2)]
    return manifest


def play(simulation: Simulation, schedule: Sequence[Action]) -> None:
    """Lets all of a schedule happen, and then what is left: networks get well, and programs that run come to a good end."""
    watched_job(simulation)
    for action in schedule:
        action.happen(simulation)
    get_well(simulation)
    for _ in range(4):  # of which some are no end: a rank that was lost is missed only after a while
        for pod in simulation.world.pods():
            simulation.machines.exit(pod)
        simulation.wait(15)
    assert phase(simulation) in ENDS
    assert not [pod for pod in simulation.world.pods() if pod["status"]["phase"] in ("Pending", "Running")]
    if phase(simulation) == "Succeeded":
        assert {clique["status"]["succeededIndexes"] for clique in simulation.world.all(CLIQUE)} == {"0"}
    simulation.close()


def get_well(simulation: Simulation) -> None:
    """Networks and operators get well, and do all that is left to do."""
    simulation.network.calm_down()
    for one in simulation.operators:
        one.connection.cut_until = 0.0
        one.writes_left = NEVER
    simulation.let_pass(MAX_BACKOFF)
    simulation.settle()


@pytest.mark.parametrize("number", NUMBERS)
def test_any_schedule_keeps_to_the_budget_and_comes_to_one_end(number: int) -> None:
    play(running(ranks()), schedule_of_job(number))


@pytest.mark.parametrize("number", NUMBERS)
def test_any_schedule_does_so_with_two_operators_of_which_one_leads(number: int) -> None:
    play(running(ranks(), candidates=2), schedule_of_job(number))


def test_a_rank_that_is_lost_and_an_operator_that_dies_while_pods_are_told_late_keep_to_it() -> None:
    play(
        running(ranks()),
        [Exit(0, 0), Lose(0), Late("Pod", 30), Exit(1, 1), Pass(5), Die(2), Pass(20), Tick(), Tick(), Evict(2), GoDown(30)],
    )


def test_a_leader_that_is_cut_off_after_a_failure_keeps_to_it() -> None:
    unlucky: list[Action] = [
        Slow(5),
        Exit(3, 1),
        Pass(3),
        CutOff(30),
        Pass(200),
        Tick(),
        Tick(),
        Exit(0, 0),
        Die(3, 1),
        Pass(30),
        Late("Pod", 60),
    ]
    play(running(ranks(), candidates=2), unlucky)
