"""A job that is suspended: its pods go, its state stays, its time stands still, and what was done stays done."""

from __future__ import annotations

from functools import partial

from applier.errors import Forbidden
from applier.ref import Manifest
from applier.testing.memory.faults import MemoryRequest
from tests.features.compiling import compile_manifest
from tests.simulation.simulation import Simulation
from tests.simulation.world import SET
from tests.training.jobs import attempts, away, causes, events, exit_pod, fail, failed_because, finish, job, phase, started
from tests.training.watch import moments_of, watched_job


def suspend(simulation: Simulation, *, to: bool = True) -> None:
    """Somebody suspends the job, or resumes it."""

    def edit(set: Manifest) -> None:
        set["spec"]["suspend"] = to

    simulation.edit(edit)


def suspended(simulation: Simulation) -> list[str]:
    return [one["status"] for one in simulation.status().get("conditions", []) if one["type"] == "Suspended"]


def test_pods_of_a_suspended_job_go_and_come_again_when_it_is_resumed() -> None:
    simulation = started()
    suspend(simulation)
    simulation.settle()
    assert (simulation.world.pods(), phase(simulation), suspended(simulation)) == ([], "Pending", ["True"])
    suspend(simulation, to=False)
    simulation.settle()
    assert (attempts(simulation), phase(simulation), suspended(simulation)) == ({"2"}, "Running", ["False"])
    assert [one for one in events(simulation) if one in ("Suspended", "Resumed")] == ["Suspended", "Resumed"]
    finish(simulation)
    assert phase(simulation) == "Succeeded"


def test_to_suspend_is_no_failure() -> None:
    simulation = started()
    suspend(simulation)
    simulation.settle()
    suspend(simulation, to=False)
    simulation.settle()
    assert (simulation.status()["restartCount"], causes(simulation)) == (0, ["Suspended"])


def test_a_job_that_is_made_suspended_begins_with_its_first_attempt() -> None:
    simulation = Simulation()
    manifest = job()
    manifest["spec"]["suspend"] = True
    simulation.world.apply(manifest)
    simulation.settle()
    assert (simulation.world.pods(), suspended(simulation)) == ([], ["True"])
    suspend(simulation, to=False)
    simulation.settle()
    assert (attempts(simulation), phase(simulation)) == ({"1"}, "Running")


def test_the_time_of_a_suspended_job_stands_still() -> None:
    simulation = started(maxRuntime="10m")
    suspend(simulation)
    simulation.settle()
    simulation.wait(3600)
    assert phase(simulation) == "Pending"
    suspend(simulation, to=False)
    simulation.settle()
    simulation.wait(300)
    assert phase(simulation) == "Running"
    simulation.wait(300)
    assert failed_because(simulation) == ["MaxRuntimeExceeded"]


def all_finish(simulation: Simulation, prefix: str = "") -> None:
    """All pods exit with 0."""
    for pod in simulation.world.pods(prefix):
        simulation.machines.exit(pod)


def test_a_job_that_had_finished_before_it_was_suspended_has_succeeded() -> None:
    """As where the operator was away, or has just not recorded it: none of it runs again once it is resumed."""
    simulation = started()
    away(simulation, partial(all_finish, simulation), partial(suspend, simulation))
    simulation.settle()
    assert (phase(simulation), causes(simulation), suspended(simulation)) == ("Succeeded", ["Succeeded"], [])


def test_a_replica_that_had_finished_before_the_deadline_has_succeeded() -> None:
    """The workload has failed all the same, since the other one had not."""
    simulation = started(job(replicas=2, maxRuntime="10m"))
    away(simulation, partial(all_finish, simulation, "demo-0"), seconds=700)
    simulation.settle()
    assert (failed_because(simulation), causes(simulation)) == (["MaxRuntimeExceeded"], ["Succeeded", "MaxRuntimeExceeded"])
    assert [one["phase"] for one in simulation.status()["trainingReplicas"]] == ["Succeeded", "Running"]


def test_a_replica_that_had_finished_before_the_job_was_suspended_does_not_run_again() -> None:
    simulation = started(job(replicas=2))
    away(simulation, partial(all_finish, simulation, "demo-0"), partial(suspend, simulation))
    simulation.settle()
    assert (phase(simulation), causes(simulation), suspended(simulation)) == ("Running", ["Succeeded", "Suspended"], ["True"])
    suspend(simulation, to=False)
    simulation.settle()
    assert {pod["metadata"]["labels"]["grove.io/attempt"] for pod in simulation.world.pods("demo-0")} == {"1"}
    finish(simulation)
    assert phase(simulation) == "Succeeded"


def test_a_job_that_is_suspended_and_resumed_while_no_operator_looked_goes_on() -> None:
    simulation = started()
    away(simulation, partial(suspend, simulation), partial(suspend, simulation, to=False))
    simulation.settle()
    assert (attempts(simulation), phase(simulation)) == ({"1"}, "Running")


def test_a_replica_that_is_done_stays_so() -> None:
    simulation = started(job(replicas=2))
    finish(simulation, "demo-0-worker")
    suspend(simulation)
    simulation.settle()
    assert [one["phase"] for one in simulation.status()["trainingReplicas"]] == ["Succeeded", "Pending"]
    suspend(simulation, to=False)
    simulation.settle()
    assert attempts(simulation) == {"1", "2"}


def test_what_has_ended_is_not_suspended() -> None:
    simulation = started()
    fail(simulation)
    suspend(simulation)
    simulation.settle()
    assert (phase(simulation), suspended(simulation)) == ("Failed", [])


def test_a_job_that_fails_and_is_suspended_at_once_ends_one_attempt() -> None:
    simulation = started(maxRestarts=1)
    away(simulation, partial(exit_pod, simulation, 0, 1), partial(suspend, simulation))
    simulation.settle()
    assert simulation.world.pods() == []
    assert causes(simulation) in (["PodFailed"], ["Suspended"]), "whichever was seen first"
    suspend(simulation, to=False)
    simulation.settle()
    assert (phase(simulation), attempts(simulation)) == ("Running", {"2"})


def test_a_crash_after_any_write_changes_nothing_about_the_end() -> None:
    simulation = watched_job(started(maxRuntime="10m"))
    moments = moments_of(simulation)
    suspend(simulation)
    simulation.settle()
    assert len(moments) >= 5
    for number, moment in enumerate(moments, 1):
        after = watched_job(Simulation(simulation.operator.context, moment=moment))
        after.settle()
        assert (after.world.pods(), suspended(after)) == ([], ["True"]), f"after write {number}"
        assert [one["attempt"] for one in after.status()["trainingReplicas"]] == [2], f"after write {number}"
        after.close()


def test_a_job_whose_resumption_was_never_recorded_is_suspended_again() -> None:
    simulation, is_denied = started(), [True]
    suspend(simulation)
    simulation.settle()

    def is_status_of_set(request: MemoryRequest) -> bool:
        return is_denied[0] and request.writes and request.resource.kind == SET and request.subresource == "status"

    simulation.world.cluster.fail(is_status_of_set, Forbidden(403, "Forbidden", "statuses are frozen"), times=-1)
    for to in (False, True):
        suspend(simulation, to=to)
        simulation.settle()
        assert simulation.world.pods() == []
    is_denied[0] = False
    simulation.wait(60)
    assert (simulation.world.pods(), suspended(simulation)) == ([], ["True"])
    suspend(simulation, to=False)
    simulation.settle()
    assert (attempts(simulation), phase(simulation)) == ({"2"}, "Running")


def test_pods_that_a_job_adopts_which_is_created_suspended_go_as_well() -> None:
    simulation = started()
    simulation.world.delete(SET, "demo", "Orphan")
    simulation.settle()
    manifest = job()
    manifest["spec"]["suspend"] = True
    simulation.world.apply(manifest)
    simulation.settle()
    assert (simulation.world.pods(), suspended(simulation), causes(simulation)) == ([], ["True"], ["Suspended"])
    suspend(simulation, to=False)
    simulation.settle()
    assert (attempts(simulation), phase(simulation)) == ({"2"}, "Running")


def test_a_service_is_not_suspended() -> None:
    manifest = job()
    manifest["spec"] = {**manifest["spec"], "workloadType": "Inference", "suspend": True}
    del manifest["spec"]["trainingSpec"]
    manifest["spec"]["template"]["terminationDelay"] = "4h"
    assert [one.path for one in compile_manifest(manifest).diagnostics] == ["spec.suspend"]
