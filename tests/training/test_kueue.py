"""A job whose pods name a queue of Kueue's: they wait for it, in each attempt as a group of its own, whose finalizers hold up nothing."""

from __future__ import annotations

from typing import Any

from applier.ref import Manifest
from grove_compiler.compile import Inputs
from grove_compiler.compile import compile as compile_inputs
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.source.document import Document
from tests.features.compiling import shipped_program
from tests.model.sets import clique
from tests.simulation.simulation import Simulation
from tests.training.jobs import attempts, away, causes, exit_pod, job, phase
from tests.training.kueue import GATE, GROUP, QUEUE, TOTAL, Kueue
from tests.training.test_suspend import suspend, suspended
from tests.training.watch import watched_job


def queued(**limits: Any) -> Manifest:
    """A leader and three workers that name a queue."""
    manifest = job([clique("lead"), clique("worker", 3)], **limits)
    for one in manifest["spec"]["template"]["cliques"]:
        one["labels"] = {QUEUE: "team"}
    return manifest


def begun(**limits: Any) -> Kueue:
    """Such a job, which has been admitted and runs."""
    kueue = Kueue(watched_job(Simulation()))
    kueue.simulation.world.apply(queued(**limits))
    kueue.settle()
    kueue.simulation.wait(60)
    kueue.settle()
    assert phase(kueue.simulation) == "Running"
    return kueue


def pods_of(manifest: Manifest) -> list[Manifest]:
    """The pods that a compilation makes."""
    result = compile_inputs(Inputs([Document(manifest)], settings=Settings(pods=True)), shipped_program())
    return [node.object for node in result.graph.nodes if node.object["kind"] == "Pod"]


def gates(simulation: Simulation) -> list[list[Manifest]]:
    return [pod["spec"].get("schedulingGates", []) for pod in simulation.world.pods()]


def test_pods_of_a_replica_are_one_group_and_are_counted() -> None:
    found = [(one["metadata"]["labels"][GROUP], one["metadata"]["annotations"][TOTAL]) for one in pods_of(queued())]
    assert found == [("demo-0-1", "4")] * 4


def test_a_group_that_the_set_names_stays() -> None:
    manifest = queued()
    for one in manifest["spec"]["template"]["cliques"]:
        one["labels"][GROUP] = "mine"
    pods = pods_of(manifest)
    assert {(one["metadata"]["labels"][GROUP], TOTAL in one["metadata"].get("annotations", {})) for one in pods} == {("mine", False)}


def test_our_gate_goes_and_that_of_the_queue_stays_until_it_admits() -> None:
    kueue = Kueue(Simulation(), is_open=False)
    kueue.simulation.world.apply(queued(maxRuntime="10m"))
    kueue.settle()
    assert (gates(kueue.simulation), phase(kueue.simulation)) == ([[GATE]] * 4, "Pending")
    kueue.simulation.wait(3600)
    kueue.is_open = True
    kueue.settle()
    assert (gates(kueue.simulation), phase(kueue.simulation)) == ([[]] * 4, "Running"), "the time in a queue does not count"


def test_a_restart_is_a_new_group_which_waits_for_no_finalizer() -> None:
    kueue = begun(maxRestarts=1)
    kueue.is_open = False
    exit_pod(kueue.simulation, 0, 1, clique="demo-0-worker")
    kueue.settle()
    assert (attempts(kueue.simulation), gates(kueue.simulation)) == ({"2"}, [[GATE]] * 4)
    kueue.is_open = True
    kueue.settle()
    assert (list(kueue.groups()), phase(kueue.simulation)) == (["demo-0-2"], "Running"), "the old group has ended and is gone"
    assert (kueue.simulation.status()["restartCount"], kueue.excess) == (1, [])


def test_ranks_that_had_finished_are_not_in_the_way_of_the_next_group() -> None:
    kueue = begun(maxRestarts=1)
    exit_pod(kueue.simulation, 1, clique="demo-0-worker")
    kueue.settle()
    exit_pod(kueue.simulation, 0, 1, clique="demo-0-worker")
    kueue.settle()
    assert (attempts(kueue.simulation), phase(kueue.simulation), kueue.excess) == ({"2"}, "Running", [])


def test_what_a_queue_takes_back_is_a_disruption_and_waits_in_it_again() -> None:
    kueue = begun(ignoreDisruptions=True)
    kueue.is_open = False
    away(kueue.simulation, lambda: kueue.evict("demo-0-1"))
    kueue.settle()
    assert (causes(kueue.simulation), gates(kueue.simulation)) == (["PodDisrupted"], [[GATE]] * 4)
    kueue.is_open = True
    kueue.settle()
    status = kueue.simulation.status()
    assert (phase(kueue.simulation), status["restartCount"], status["disruptionCount"]) == ("Running", 0, 1)


def test_a_suspended_job_leaves_the_queue_and_comes_back_to_it() -> None:
    kueue = begun()
    suspend(kueue.simulation)
    kueue.settle()
    assert (dict(kueue.groups()), suspended(kueue.simulation)) == ({}, ["True"])
    suspend(kueue.simulation, to=False)
    kueue.settle()
    assert (list(kueue.groups()), phase(kueue.simulation)) == (["demo-0-2"], "Running")


def test_a_job_that_is_suspended_while_it_waits_in_the_queue_comes_up_when_it_is_resumed() -> None:
    kueue = Kueue(Simulation(), is_open=False)
    kueue.simulation.world.apply(queued())
    kueue.settle()
    suspend(kueue.simulation)
    kueue.settle()
    assert kueue.simulation.world.pods() == []
    suspend(kueue.simulation, to=False)
    kueue.is_open = True
    kueue.settle()
    assert phase(kueue.simulation) == "Running"
