"""The operator is killed after every single write of a job's success, failure, restart, deadline and suspension: the end is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

import pytest

from applier.ref import Manifest
from tests.model.sets import clique, group
from tests.simulation.simulation import Simulation, running
from tests.simulation.state import state
from tests.training.jobs import exit_pod, job, take
from tests.training.watch import moments_of, watched_job

Intervention = Callable[[Simulation], None]


def ranks(**limits: Any) -> Manifest:
    """A leader, and two groups of two ranks."""
    manifest = job([clique("lead"), clique("rank", 2)], **limits)
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 2, 2)]
    return manifest


def succeed(simulation: Simulation) -> None:
    for pod in simulation.world.pods():
        simulation.machines.exit(pod)


def fail(simulation: Simulation) -> None:
    exit_pod(simulation, 1, 1, clique="demo-0-ranks-1-rank")


def evict(simulation: Simulation) -> None:
    take(simulation, 0, clique="demo-0-lead", reason="EvictionByEvictionAPI")


def run_out(simulation: Simulation) -> None:
    simulation.let_pass(660)


def suspend(simulation: Simulation, *, to: bool = True) -> None:
    def edit(set: Manifest) -> None:
        set["spec"]["suspend"] = to

    simulation.edit(edit)


def resume(simulation: Simulation) -> None:
    suspend(simulation, to=False)


def nothing(_: Simulation) -> None:
    pass


class Case(NamedTuple):
    """What happens to a job, and how it stands in the end: its phase, the restarts that it spent, and the attempt that counts.

    `before` happens first, to its end, and nobody is killed meanwhile.
    """

    limits: dict[str, Any]
    intervention: Intervention
    least: int
    phase: str
    restarts: int
    attempt: int
    before: Intervention = nothing


CASES = {
    "success": Case({}, succeed, 3, "Succeeded", 0, 1),
    "failure": Case({}, fail, 6, "Failed", 0, 1),
    "restart": Case({"maxRestarts": 3}, fail, 25, "Running", 1, 2),
    "eviction": Case({"ignoreDisruptions": True}, evict, 25, "Running", 0, 2),
    "deadline": Case({"maxRuntime": "10m"}, run_out, 8, "Failed", 0, 1),
    "suspend": Case({"maxRestarts": 3, "maxRuntime": "10m"}, suspend, 8, "Pending", 0, 2),
    "resume": Case({"maxRestarts": 3, "maxRuntime": "10m"}, resume, 8, "Running", 0, 2, before=suspend),
}


def end(simulation: Simulation) -> Iterator[str]:
    """Lets all go on to its end, and yields each point on the way at which all that follows is decided."""
    for part in range(2):
        if part:
            simulation.let_pass(15)
        for _ in simulation.rounds():
            yield f"{part} {sha256(state(simulation).encode()).hexdigest()}"


def standing(simulation: Simulation) -> tuple[object, ...]:
    status = simulation.status()
    [replica] = status["trainingReplicas"]
    return status["phase"], status["restartCount"], replica["attempt"], len(status.get("attempts", []))


@pytest.mark.parametrize("name", CASES)
def test_a_crash_after_any_write_changes_nothing_about_the_end(name: str) -> None:
    """A run that comes to a point from which another one has ended as it should ends so, too, and is not played any further."""
    case = CASES[name]
    simulation = watched_job(running(ranks(**case.limits)))
    case.before(simulation)
    simulation.settle()
    moments = moments_of(simulation)
    case.intervention(simulation)
    known = set(end(simulation))
    assert len(moments) >= case.least
    wanted = standing(simulation)
    assert wanted[:3] == (case.phase, case.restarts, case.attempt)
    for number, moment in enumerate(moments, 1):
        after, points = watched_job(Simulation(simulation.operator.context, moment=moment)), set[str]()
        for point in end(after):
            points.add(point)
            if point in known:
                break
        else:
            assert standing(after) == wanted, f"after write {number}"
        known |= points
        after.close()
