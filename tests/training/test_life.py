"""How a training workload begins, fails, begins again and ends, told from its start to its end (GREP-0285)."""

from __future__ import annotations

from collections import Counter

import pytest

from grove_compiler.model.expanded.live_pods import SCHEDULING_GATE
from tests.model.sets import clique, group
from tests.simulation.simulation import Simulation
from tests.simulation.world import CLIQUE, GANG, POD
from tests.training.jobs import (
    WORKER,
    attempts,
    events,
    exit_pod,
    fail,
    failed_because,
    finish,
    job,
    last_attempt,
    phase,
    pod_of,
    report,
    started,
    take,
    uids,
)


def test_a_workload_is_pending_until_all_its_pods_run() -> None:
    simulation = Simulation(room=2)
    simulation.world.apply(job())
    simulation.settle()
    assert phase(simulation) == "Pending"
    assert "startTime" not in simulation.status()
    simulation.machines.room = 3
    simulation.settle()
    assert phase(simulation) == "Running"
    assert simulation.status()["startTime"] == simulation.status()["trainingReplicas"][0]["startTime"]


def test_a_pod_that_has_exited_with_0_is_not_made_again() -> None:
    simulation = started()
    before = uids(simulation)
    exit_pod(simulation, 1)
    simulation.settle()
    assert uids(simulation) == before
    assert report(simulation)["succeededIndexes"] == "1"
    assert phase(simulation) == "Running"


def test_a_workload_has_succeeded_when_all_its_pods_have() -> None:
    simulation = started()
    finish(simulation)
    assert phase(simulation) == "Succeeded"
    assert report(simulation)["succeededIndexes"] == "0-2"
    assert [one["reason"] for one in report(simulation)["conditions"] if one["type"] == "Succeeded"] == ["AllPodsSucceeded"]
    assert events(simulation)[-1] == "WorkloadSucceeded"
    assert last_attempt(simulation)["cause"] == "Succeeded"
    assert len(simulation.world.pods()) == 3, "their logs can still be read"


def test_the_first_failure_ends_a_workload_that_may_not_be_restarted() -> None:
    simulation = started()
    fail(simulation)
    assert (phase(simulation), failed_because(simulation)) == ("Failed", ["MaxRestartsExceeded"])
    assert [pod["status"]["phase"] for pod in simulation.world.pods()] == ["Failed"], "what still ran is ended"
    assert events(simulation)[-2:] == ["PodCliqueFailed", "MaxRestartsExceeded"]


def test_a_failure_restarts_all_pods_of_the_replica() -> None:
    simulation = started(maxRestarts=1)
    before = uids(simulation)
    fail(simulation, 2, 3)
    assert not before & uids(simulation)
    assert attempts(simulation) == {"2"}
    assert (phase(simulation), simulation.status()["restartCount"]) == ("Running", 1)
    finish(simulation)
    assert phase(simulation) == "Succeeded"


def test_pods_of_two_attempts_never_have_the_same_name() -> None:
    """Whoever deletes a pod by its name alone, as some nodes do, would hit its successor."""
    simulation = started(maxRestarts=1)
    before = {pod["metadata"]["name"] for pod in simulation.world.pods()}
    fail(simulation)
    assert not before & {pod["metadata"]["name"] for pod in simulation.world.pods()}


def test_the_status_keeps_what_goes_with_the_pods() -> None:
    simulation = started(maxRestarts=1)
    name = pod_of(simulation, WORKER, 2)["metadata"]["name"]
    begun = simulation.status()["startTime"]
    fail(simulation, 2, 3, message="first line\nloss is NaN\n")
    [kept] = simulation.status()["attempts"]
    assert kept.pop("endTime") > begun
    assert kept == {
        "replica": 0,
        "attempt": 1,
        "startTime": begun,
        "cause": "PodFailed",
        "podClique": WORKER,
        "pod": name,
        "container": "main",
        "exitCode": 3,
        "message": "first line\nloss is NaN",
        "counted": True,
    }


def test_only_the_last_ten_attempts_are_kept() -> None:
    simulation = started(maxRestarts=20)
    for _ in range(12):
        fail(simulation)
    assert [one["attempt"] for one in simulation.status()["attempts"]] == [*range(3, 13)]
    assert simulation.status()["restartCount"] == 12


def test_the_event_of_a_restart_says_what_failed_and_what_is_left() -> None:
    simulation = started(maxRestarts=2)
    name = pod_of(simulation, WORKER, 0)["metadata"]["name"]
    fail(simulation, 0, 137)
    assert simulation.world.told[-1] == (
        f"ReplicaRestarting: Restarting replica 0: pod {name}, container main, exited with 137; restart 1 of 2"
    )


@pytest.mark.parametrize(("message", "told"), [("OOMKilled", "137 (OOMKilled)"), ("Error", "137"), ("Loss is NaN\nat step 5", "137")])
def test_the_event_of_a_restart_names_the_reason_of_the_kubelet(message: str, told: str) -> None:
    simulation = started(maxRestarts=2)
    fail(simulation, 0, 137, message=message)
    assert f" exited with {told}; restart 1 of 2" in simulation.world.told[-1]


def test_once_the_budget_is_spent_the_next_failure_ends_the_workload() -> None:
    simulation = started(maxRestarts=1)
    fail(simulation)
    fail(simulation)
    assert (phase(simulation), failed_because(simulation)) == ("Failed", ["MaxRestartsExceeded"])
    assert simulation.status()["restartCount"] == 1


def test_a_workload_that_is_not_done_in_time_has_failed() -> None:
    simulation = started(maxRuntime="10m")
    simulation.wait(600)
    assert (phase(simulation), failed_because(simulation)) == ("Failed", ["MaxRuntimeExceeded"])
    assert simulation.world.pods() == []
    assert "MaxRuntimeExceeded" in events(simulation)
    assert last_attempt(simulation)["cause"] == "MaxRuntimeExceeded"


def test_the_time_of_a_workload_is_that_since_its_first_start_restarts_included() -> None:
    simulation = started(maxRuntime="10m", maxRestarts=5)
    begun = simulation.status()["startTime"]
    simulation.wait(300)
    fail(simulation)
    assert simulation.status()["startTime"] == begun
    simulation.wait(300)
    assert failed_because(simulation) == ["MaxRuntimeExceeded"]


def test_what_a_restart_leaves_is_what_was_there() -> None:
    """Domains, claims, Services and gangs are of the replica and not of an attempt."""
    simulation = started(maxRestarts=1)
    kept = {one["metadata"]["uid"] for kind in (CLIQUE, GANG) for one in simulation.world.all(kind)}
    fail(simulation)
    assert {one["metadata"]["uid"] for kind in (CLIQUE, GANG) for one in simulation.world.all(kind)} == kept


def test_pods_of_the_next_attempt_wait_for_the_last_of_the_one_before() -> None:
    simulation = started(maxRestarts=1)
    stuck = pod_of(simulation, WORKER, 1)
    simulation.machines.lost.add(stuck["metadata"]["uid"])
    fail(simulation)
    assert simulation.world.pods() == []
    assert phase(simulation) == "Pending"
    simulation.machines.lost.clear()
    simulation.settle()
    assert attempts(simulation) == {"2"}


def named_by_gangs(simulation: Simulation) -> set[str]:
    """The pods that PodGangs refer to."""
    groups = [group for gang in simulation.world.all(GANG) for group in gang["spec"]["podgroups"]]
    return {reference["name"] for group in groups for reference in group.get("podReferences") or []}


def test_pods_of_the_next_attempt_are_named_by_their_gang_before_they_are_made_and_need_no_gate() -> None:
    simulation = started(maxRestarts=1)
    seen: dict[str, bool] = {}

    def look(_: str) -> None:
        for pod in simulation.world.pods():
            if pod["metadata"]["labels"]["grove.io/attempt"] == "2":
                seen.setdefault(pod["metadata"]["name"], pod["metadata"]["name"] in named_by_gangs(simulation))
                assert not pod["spec"].get("schedulingGates")

    simulation.operator.after_write = look
    fail(simulation)
    assert list(seen.values()) == [True] * 3


def test_a_scaled_gang_waits_for_its_base_gang_in_every_attempt() -> None:
    manifest = job([clique("lead"), clique("rank")], maxRestarts=1)
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 2, 1)]
    simulation = started(manifest)
    exit_pod(simulation, 0, 1, clique="demo-0-lead")
    simulation.run_operator()
    simulation.machines.room = 0
    simulation.settle()
    gates = {pod["metadata"]["labels"]["grove.io/podclique"]: pod["spec"].get("schedulingGates", []) for pod in simulation.world.pods()}
    assert gates == {"demo-0-lead": [], "demo-0-ranks-0-rank": [], "demo-0-ranks-1-rank": [{"name": SCHEDULING_GATE}]}
    simulation.machines.room = 3
    simulation.settle()
    assert (phase(simulation), attempts(simulation)) == ("Running", {"2"})


def test_a_restart_writes_nothing_of_a_pod_but_that_it_goes_and_that_the_next_one_is_made() -> None:
    simulation = started(maxRestarts=1)
    log = simulation.world.cluster.log
    before = len(log)
    fail(simulation)
    assert Counter(one.verb for one in log[before:] if one.writes and one.resource.kind.kind == "Pod") == {"delete": 3, "create": 3}


def test_an_eviction_is_told_apart_and_burns_the_budget_as_any_failure() -> None:
    simulation = started(maxRestarts=1)
    take(simulation, 0, reason="EvictionByEvictionAPI")
    simulation.settle()
    assert (last_attempt(simulation)["cause"], last_attempt(simulation)["message"]) == ("PodDisrupted", "EvictionByEvictionAPI")
    assert (simulation.status()["restartCount"], simulation.status()["disruptionCount"]) == (1, 1)


def test_an_eviction_costs_nothing_where_the_set_says_so() -> None:
    simulation = started(ignoreDisruptions=True)
    take(simulation, 0, reason="PreemptionByScheduler")
    simulation.settle()
    assert (simulation.status()["restartCount"], simulation.status()["disruptionCount"]) == (0, 1)
    assert (phase(simulation), attempts(simulation)) == ("Running", {"2"})
    fail(simulation)
    assert failed_because(simulation) == ["MaxRestartsExceeded"]


@pytest.mark.parametrize("reason", ["NodeShutdown", "OutOfcpu", "OutOfnvidia.com/gpu", "NodeAffinity", "TopologyAffinityError"])
def test_a_workload_whose_pods_were_refused_by_nodes_is_restarted_as_disrupted(reason: str) -> None:
    simulation = started(ignoreDisruptions=True)
    simulation.world.report(pod_of(simulation, WORKER, 0), phase="Failed", reason=reason, containerStatuses=[])
    simulation.settle()
    assert last_attempt(simulation)["cause"] == "PodDisrupted"
    assert simulation.status()["restartCount"] == 0


def test_one_budget_counts_for_all_replicas() -> None:
    simulation = started(job(replicas=2, maxRestarts=1))
    fail(simulation, clique="demo-1-worker")
    assert simulation.status()["restartCount"] == 1
    fail(simulation, clique="demo-0-worker")
    assert failed_because(simulation) == ["MaxRestartsExceeded"]


def test_two_replicas_that_fail_at_once_each_cost_a_restart() -> None:
    simulation = started(job(replicas=2, maxRestarts=2))
    for index in range(2):
        exit_pod(simulation, 0, 1, clique=f"demo-{index}-worker")
    simulation.settle()
    assert (phase(simulation), simulation.status()["restartCount"]) == ("Running", 2)
    assert [(one["index"], one["attempt"]) for one in simulation.status()["trainingReplicas"]] == [(0, 2), (1, 2)]


def test_a_replica_that_is_done_stays_so_while_another_one_is_restarted() -> None:
    simulation = started(job(replicas=2, maxRestarts=1))
    finish(simulation, "demo-0-worker")
    done = uids(simulation, "demo-0-worker")
    fail(simulation, clique="demo-1-worker")
    assert uids(simulation, "demo-0-worker") == done
    assert [one["phase"] for one in simulation.status()["trainingReplicas"]] == ["Succeeded", "Running"]
    finish(simulation)
    assert phase(simulation) == "Succeeded"


@pytest.mark.parametrize("least", [2, 1])
def test_a_failure_in_a_scaling_group_restarts_the_whole_replica(least: int) -> None:
    """Also where the group's replicas beyond `minAvailable` are gangs of their own."""
    manifest = job([clique("lead"), clique("rank", 2)], maxRestarts=1)
    manifest["spec"]["template"]["podCliqueScalingGroups"] = [group("ranks", ["rank"], 2, least)]
    simulation = started(manifest)
    before = uids(simulation)
    fail(simulation, clique="demo-0-ranks-1-rank")
    assert not before & uids(simulation)
    assert len(simulation.world.pods()) == 5
    assert phase(simulation) == "Running"


def test_a_service_has_no_phase_and_its_pods_no_attempts() -> None:
    from tests.simulation.simulation import running

    simulation = running()
    assert "phase" not in simulation.status()
    assert not any("grove.io/attempt" in pod["metadata"]["labels"] for pod in simulation.world.all(POD))
