"""Jobs that can do with fewer pods than are declared (`minAvailable`), as elastic training does: they run while others find no node."""

from __future__ import annotations

from typing import Any

from tests.model.sets import clique
from tests.simulation.simulation import Simulation
from tests.training.jobs import WORKER, attempts, causes, exit_pod, failed_because, job, phase, report
from tests.training.watch import watched_job


def short(room: int = 2, **limits: Any) -> Simulation:
    """A job of three workers, of which two can do without the third, and there is room for so many."""
    simulation = Simulation(room=room)
    simulation.world.apply(job([clique("worker", 3, 2)], **limits))
    simulation.settle()
    return watched_job(simulation)


def running_ranks(simulation: Simulation) -> list[int]:
    pods = [pod for pod in simulation.world.pods() if pod["status"]["phase"] == "Running"]
    return sorted(int(pod["spec"]["hostname"].rpartition("-")[2]) for pod in pods)


def test_a_job_runs_once_as_many_pods_run_as_it_needs() -> None:
    simulation = short(maxRuntime="10m")
    assert (phase(simulation), "startTime" in report(simulation), len(running_ranks(simulation))) == ("Running", True, 2)
    simulation.wait(601)
    assert failed_because(simulation) == ["MaxRuntimeExceeded"]


def test_a_job_with_fewer_pods_than_it_needs_has_not_begun() -> None:
    simulation = short(room=1, maxRuntime="10m")
    simulation.wait(601)
    assert (phase(simulation), "startTime" in report(simulation)) == ("Pending", False)
    simulation.machines.room = 3
    simulation.settle()
    assert (phase(simulation), len(running_ranks(simulation))) == ("Running", 3)


def test_a_failure_that_leaves_too_few_is_judged_although_another_pod_still_waits_for_its_node() -> None:
    """The job would stand still until that pod gets one, which may be never."""
    simulation = short(maxRestarts=1)
    simulation.machines.cordoned = True
    exit_pod(simulation, running_ranks(simulation)[0], 1)
    simulation.settle()
    assert (causes(simulation), attempts(simulation), simulation.status()["restartCount"]) == (["PodFailed"], {"2"}, 1)
    simulation.machines.cordoned = False
    simulation.settle()
    assert phase(simulation) == "Running"


def test_a_pod_that_gets_its_node_late_joins_the_others() -> None:
    simulation = short(maxRestarts=1)
    simulation.wait(300)
    simulation.machines.room = 3
    simulation.settle()
    assert (running_ranks(simulation), attempts(simulation), causes(simulation)) == ([0, 1, 2], {"1"}, [])
    for index in range(3):
        exit_pod(simulation, index, clique=WORKER)
    simulation.settle()
    assert (phase(simulation), simulation.status()["restartCount"]) == ("Succeeded", 0)
