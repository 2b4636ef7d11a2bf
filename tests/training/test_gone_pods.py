"""Pods that are gone before an operator has looked are judged by their last state, which a watch shows with the deletion."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from applier.errors import Forbidden
from applier.ref import Kind, Manifest
from applier.testing.memory.faults import MemoryRequest
from grove_compiler.labels import CLIQUE_LABEL
from tests.model.sets import clique
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, POD
from tests.training.jobs import WORKER, attempts, away, causes, exit_pod, job, last_attempt, phase, pod_of, report, started, take

Intervention = Callable[[Simulation], object]


def unseen(simulation: Simulation, *interventions: Intervention, seconds: float = 30.0) -> None:
    """Things happen, and pods that were asked to go are gone, before the watch of pods tells any of it, all at once."""
    simulation.network.silent["Pod"] = simulation.loop.time() + seconds
    simulation.let_pass(0.1)
    for intervention in interventions:
        intervention(simulation)
        simulation.machines.tick()
    simulation.let_pass(seconds)
    simulation.run_operator()
    simulation.settle()


def evict(simulation: Simulation) -> None:
    take(simulation, 1, reason="EvictionByEvictionAPI")


def delete(simulation: Simulation) -> None:
    take(simulation, 1)


def fail(simulation: Simulation) -> None:
    exit_pod(simulation, 1, 7)


JUDGED: dict[str, tuple[list[Intervention], dict[str, Any]]] = {
    "an eviction": ([evict], {"cause": "PodDisrupted", "message": "EvictionByEvictionAPI"}),
    "a deletion": ([delete], {"cause": "PodDeleted"}),
    "a failure that was cleaned up": ([fail, delete], {"cause": "PodFailed", "exitCode": 7}),
}


@pytest.mark.parametrize("what", JUDGED)
def test_a_pod_that_is_gone_before_anybody_looked_is_judged_by_its_last_state(what: str) -> None:
    simulation = started(maxRestarts=1)
    name = pod_of(simulation, WORKER, 1)["metadata"]["name"]
    interventions, told = JUDGED[what]
    unseen(simulation, *interventions)
    last = last_attempt(simulation)
    assert {key: last.get(key) for key in ("pod", *told)} == {"pod": name, **told}
    assert (simulation.status()["restartCount"], attempts(simulation), phase(simulation)) == (1, {"2"}, "Running")


def test_an_eviction_that_nobody_saw_is_free_where_the_set_says_so() -> None:
    simulation = started(ignoreDisruptions=True)
    unseen(simulation, evict)
    assert (causes(simulation), simulation.status()["restartCount"], simulation.status()["disruptionCount"]) == (["PodDisrupted"], 0, 1)


def test_a_pod_that_had_finished_before_it_was_deleted_has_succeeded() -> None:
    simulation = started()
    unseen(simulation, partial(exit_pod, index=1), delete)
    assert (report(simulation)["succeededIndexes"], attempts(simulation), causes(simulation)) == ("1", {"1"}, [])
    for index in (0, 2):
        exit_pod(simulation, index)
    simulation.settle()
    assert phase(simulation) == "Succeeded"


def test_a_gang_waits_for_no_rank_that_has_finished_and_is_gone_when_its_other_pods_are_made_again() -> None:
    """As where a node is drained on which one has finished before all have run."""
    simulation = Simulation(room=2)
    simulation.world.apply(job(maxRestarts=1))
    simulation.settle()
    finished = next(pod for pod in simulation.world.pods() if pod["status"]["phase"] == "Running")
    simulation.machines.room = 0
    simulation.machines.exit(finished)
    simulation.settle()
    for pod in simulation.world.pods():
        simulation.world.delete(POD, pod["metadata"]["name"])
    simulation.settle()
    simulation.machines.room = 2
    simulation.wait(60)
    assert [pod["status"]["phase"] for pod in simulation.world.pods()] == ["Running", "Running"]
    for pod in simulation.world.pods():
        simulation.machines.exit(pod)
    simulation.settle()
    assert (phase(simulation), simulation.status()["restartCount"]) == ("Succeeded", 0)


@pytest.mark.parametrize("prefix", ["demo-0", "demo-0-lead"])
def test_pods_that_are_taken_before_all_of_their_gang_have_run_come_again_though_their_own_clique_has(prefix: str) -> None:
    """As where a queue preempts a workload that starts, or a node is drained."""
    simulation = Simulation(room=1)
    simulation.world.apply(job([clique("lead"), clique("rank", 2)]))
    simulation.settle()
    assert "startTime" in report(simulation, "demo-0-lead")
    simulation.machines.room = 0
    for pod in simulation.world.pods(prefix):
        simulation.world.delete(POD, pod["metadata"]["name"])
    simulation.settle()
    simulation.machines.room = 3
    simulation.wait(60)
    assert [pod["status"]["phase"] for pod in simulation.world.pods()] == ["Running"] * 3
    assert (phase(simulation), attempts(simulation)) == ("Running", {"1"})


def test_a_pod_that_is_only_no_longer_shown_is_lost_after_a_while() -> None:
    """A watch shows what has lost the label by which it selects like something that was deleted."""
    simulation = started(maxRestarts=1)

    def hide(pod: Manifest) -> None:
        del pod["metadata"]["labels"][CLIQUE_LABEL]

    hidden: Manifest = {**pod_of(simulation, WORKER, 1), "metadata": {**pod_of(simulation, WORKER, 1)["metadata"]}}
    hidden["metadata"]["labels"] = dict(hidden["metadata"]["labels"])
    hide(hidden)
    simulation.world.put(hidden)
    simulation.run_operator()
    assert (causes(simulation), "lostSince" in report(simulation)) == ([], True)
    simulation.wait(11)
    assert causes(simulation) == ["PodLost"]


def test_a_deletion_in_a_gap_of_the_watch_is_judged_by_what_was_known() -> None:
    """Nothing shows the deletion itself then, only that the pod is not there any more."""
    simulation = started(maxRestarts=1)
    simulation.machines.lost.add(pod_of(simulation, WORKER, 1)["metadata"]["uid"])
    gone = pod_of(simulation, WORKER, 1)
    simulation.operator.connection.cut_until = simulation.loop.time() + 5
    evict(simulation)
    simulation.world.end(simulation.world.get(POD, gone["metadata"]["name"]))
    simulation.world.cluster.end_watches()
    simulation.world.cluster.store.forget()
    simulation.let_pass(8)
    simulation.run_operator()
    assert "lostSince" in report(simulation)
    simulation.wait(11)
    assert causes(simulation) == ["PodLost"]


def test_what_is_known_of_gone_pods_goes_with_their_podclique() -> None:
    simulation = started(maxRestarts=3)
    unseen(simulation, delete)
    uid = simulation.world.get(CLIQUE, WORKER)["metadata"]["uid"]
    cache = simulation.operator.process.cache
    assert [pod["metadata"]["name"] for pod in cache.deleted(uid, "", "Pod")] != []
    simulation.world.delete(CLIQUE, WORKER)
    simulation.settle()
    assert cache.deleted(uid, "", "Pod") == []


def test_no_pod_is_created_again_in_an_attempt_of_which_nothing_can_be_recorded() -> None:
    """As where a policy of somebody else denies the statuses of PodCliques: an operator that starts cannot know what has finished."""
    simulation, is_denied = Simulation(), [True]

    def is_refused(request: MemoryRequest) -> bool:
        return is_denied[0] and request.writes and request.resource.kind == CLIQUE and request.subresource == "status"

    simulation.world.cluster.fail(is_refused, Forbidden(403, "Forbidden", "statuses are frozen"), times=-1)
    simulation.world.apply(job())
    simulation.settle()
    exit_pod(simulation, 0)
    simulation.settle()
    delete(simulation)
    take(simulation, 0)
    simulation.settle()
    away(simulation)
    simulation.wait(60)
    assert [pod["spec"]["hostname"] for pod in simulation.world.pods()] == [f"{WORKER}-2"]
    is_denied[0] = False
    simulation.wait(60)
    assert len(simulation.world.pods()) == 3, "all of the attempt that nobody has seen begin"


def test_a_pod_that_is_made_again_starts_after_no_rank_that_has_finished_and_is_gone() -> None:
    """Its init container would wait for it for ever."""
    simulation = Simulation(room=1)
    simulation.world.apply(job([clique("lead"), clique("rank", 2)], template={"cliqueStartupType": "CliqueStartupTypeInOrder"}))
    simulation.settle()
    assert {initc_arguments(pod) for pod in simulation.world.pods("demo-0-rank")} == {("--podcliques=demo-0-lead:1",)}
    exit_pod(simulation, 0, clique="demo-0-lead")
    simulation.machines.room = 0
    simulation.settle()
    for pod in simulation.world.pods():
        simulation.world.delete(POD, pod["metadata"]["name"])
    simulation.settle()
    simulation.machines.room = 2
    simulation.settle()
    assert [initc_arguments(pod) for pod in simulation.world.pods("demo-0-rank")] == [(), ()]


@pytest.mark.parametrize(
    ("startup", "kinds"), [("InOrder", ["podcliques", "pods"]), ("Explicit", ["podcliques", "pods"]), ("AnyOrder", ["pods"])]
)
def test_a_pod_that_starts_after_others_may_read_which_of_them_have_finished(startup: str, kinds: list[str]) -> None:
    """One that was created before these were gone finds no pods of them once it has a node."""
    simulation = Simulation()
    simulation.world.apply(job([clique("lead"), clique("rank", 2)], template={"cliqueStartupType": f"CliqueStartupType{startup}"}))
    simulation.settle()
    rules = simulation.world.get(Kind("rbac.authorization.k8s.io", "v1", "Role"), "grove.io:pcs:demo")["rules"]
    assert sorted(kind for rule in rules for kind in rule["resources"] if "/" not in kind) == kinds


def initc_arguments(pod: Manifest) -> tuple[str, ...]:
    """What the init container of a pod waits for."""
    return tuple(argument for one in pod["spec"].get("initContainers", []) for argument in one["args"])
