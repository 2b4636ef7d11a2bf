"""The examples of training jobs, run from start to end: an operator in a simulation, and the containers' programs as real processes."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from applier.ref import Manifest
from tests.simulation.conftest import no_simulation_left
from tests.simulation.labels import label
from tests.simulation.simulation import Simulation
from tests.simulation.world import NAMESPACE, SET

from .processes import Nodes, address, environment

__all__ = ["no_simulation_left"]
EXAMPLES = Path(__file__).parents[2] / "examples"
Run = Callable[..., Nodes]


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Run]:
    """Begins the job of an example, whose steps take no time to speak of."""
    begun: list[Nodes] = []

    def begin(name: str, **given: str) -> Nodes:
        manifest: Manifest = yaml.load((EXAMPLES / f"training-{name}.yaml").read_text("utf-8"), yaml.CSafeLoader)
        manifest["metadata"]["namespace"] = NAMESPACE
        simulation = Simulation()
        simulation.world.apply(manifest)
        simulation.settle()
        begun.append(Nodes(simulation, tmp_path, STEP_SECONDS="0.01", **given))
        return begun[-1]

    yield begin
    for one in begun:
        one.close()


def status(nodes: Nodes, name: str) -> Manifest:
    return nodes.simulation.status(SET, name)


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return str(server.getsockname()[1])


def test_ranks_meet_at_the_address_of_the_first_and_all_finish(nodes: Run) -> None:
    job = nodes("rendezvous", MASTER_PORT=free_port())
    job.run(until="Succeeded")
    assert sorted(line for line in job.printed if "step 2" in line) == [f"rank {rank}: step 2 has 14" for rank in range(4)]
    assert status(job, "rendezvous")["restartCount"] == 0


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed, 200 MB for the CPU: see tests/preflight/checks")
def test_ranks_of_pytorch_learn_together_and_all_finish(nodes: Run) -> None:
    job = nodes("ddp", MASTER_PORT=free_port(), GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1")
    job.run(until="Succeeded", patience=600.0)  # each rank loads PyTorch, which takes ten seconds of a busy machine
    told = sorted(line for line in job.printed if line.startswith("rank"))
    assert told == [f"rank {rank} of 4: [0, 1, 2, 3, 4, 5, 6, 7]" for rank in range(4)]
    assert status(job, "ddp")["restartCount"] == 0


def test_pods_have_what_pytorch_asks_its_environment_for(nodes: Run) -> None:
    pods = nodes("ddp").simulation.world.pods()
    [first] = [pod for pod in pods if label(pod, "grove.io/podclique-pod-index") == "0"]
    found = [environment(pod, pod["spec"]["containers"][0]) for pod in pods]
    assert {one["MASTER_ADDR"] for one in found} == {address(first)}
    assert sorted(one["RANK"] for one in found) == ["0", "1", "2", "3"]
    assert {(one["MASTER_PORT"], one["WORLD_SIZE"]) for one in found} == {("29500", "4")}


def test_a_rank_that_fails_once_for_nobody_s_fault_costs_no_restart(nodes: Run) -> None:
    job = nodes("flaky-rank")
    job.run(until="Succeeded")
    told = status(job, "flaky")
    assert (told["restartCount"], [one["cause"] for one in told["attempts"]]) == (0, ["PodFailed", "Succeeded"])
    assert told["attempts"][0]["exitCode"] == 75
    assert "attempt 2, rank 2: step 9" in job.printed
    kept = {(label(pod, "grove.io/attempt"), pod["status"]["phase"]) for pod in job.simulation.world.pods()}
    assert ("1", "Failed") in kept, "its log can still be read"


def test_a_job_that_does_not_end_is_ended_and_goes(nodes: Run) -> None:
    job = nodes("deadline")
    while job.count < 2:
        job.tick()
    job.simulation.wait(29 * 60)
    assert status(job, "endless")["phase"] == "Running"
    job.simulation.wait(120)
    job.run(until="Failed")
    job.tick()
    assert (job.count, job.simulation.world.pods()) == (0, [])
    assert [one["reason"] for one in status(job, "endless")["conditions"] if one["type"] == "Failed"] == ["MaxRuntimeExceeded"]
    job.simulation.wait(3700)
    assert job.simulation.world.find(SET, "endless") is None


def test_a_leader_goes_on_from_its_checkpoint_and_ends_its_workers(nodes: Run, tmp_path: Path) -> None:
    job = nodes("checkpoints", CHECKPOINTS=str(tmp_path))
    job.run(until="Succeeded")
    job.tick()
    assert [line for line in job.printed if line.startswith("begins")] == ["begins at step 0", "begins at step 5"]
    assert (tmp_path / "step").read_text() == "10"
    assert (job.count, status(job, "checkpoints")["restartCount"]) == (0, 1)
