"""Sidecars end after their pod's program, by a signal: how the pod has ended is what the program says."""

from __future__ import annotations

from functools import partial
from typing import Any

from applier.ref import Manifest
from grove_compiler.kube.timestamp import timestamp
from tests.model.sets import clique
from tests.simulation.simulation import Simulation
from tests.simulation.world import POD

from .jobs import WORKER, away, failed_because, job, last_attempt, phase, pod_of, started


def beside_sidecars(**limits: Any) -> Simulation:
    """A job of one worker, which has a sidecar, runs."""
    worker = clique("worker", 1)
    worker["spec"]["podSpec"]["initContainers"] = [{"name": "logs", "image": "l", "restartPolicy": "Always"}]
    return started(job([worker], **limits))


def end(simulation: Simulation, pod: Manifest, code: int, seconds: float = 0.0) -> None:
    """The program of a pod has ended, and so many seconds later its sidecar by the signal that it gets then, at this moment."""
    program, sidecar = (timestamp(at) for at in (simulation.world.now - seconds, simulation.world.now))
    name = pod["spec"]["containers"][0]["name"]
    simulation.world.report(
        pod,
        phase="Failed" if code else "Succeeded",
        conditions=[],
        initContainerStatuses=[{"name": "logs", "state": {"terminated": {"exitCode": 143, "finishedAt": sidecar}}}],
        containerStatuses=[{"name": name, "state": {"terminated": {"exitCode": code, "finishedAt": program}}}],
    )


def test_the_program_is_what_failed_although_its_sidecar_ended_in_the_same_second() -> None:
    simulation = beside_sidecars(maxRestarts=1, failureRules=[{"action": "Fail", "exitCodes": [3]}])
    end(simulation, pod_of(simulation, WORKER, 0), 3)
    simulation.settle()
    assert failed_because(simulation) == ["FailureRule"]
    assert (last_attempt(simulation)["container"], last_attempt(simulation)["exitCode"]) == ("main", 3)


def test_a_pod_that_was_deleted_while_only_its_sidecar_still_ran_has_succeeded() -> None:
    simulation = beside_sidecars()
    pod = pod_of(simulation, WORKER, 0)
    simulation.machines.lost.add(pod["metadata"]["uid"])
    simulation.let_pass(5)
    away(simulation, partial(delete_and_end, simulation, pod["metadata"]["name"]))
    simulation.settle()
    assert phase(simulation) == "Succeeded"


def delete_and_end(simulation: Simulation, name: str) -> None:
    simulation.world.delete(POD, name)
    end(simulation, simulation.world.get(POD, name), 0, seconds=40)
