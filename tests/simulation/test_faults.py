"""What breaks, and how the operator bears it, as docs/operator.md says: tried here where it takes minutes of somebody's time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from applier.errors import Forbidden
from applier.ref import Kind, Manifest, Ref, uid_of
from applier.testing.memory.faults import MemoryRequest
from grove_compiler.labels import MANAGED_BY
from tests.simulation.labels import label
from tests.simulation.sets import demo, image, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, assert_no_orphan, watched
from tests.simulation.world import CLIQUE, GROUP, POD, SERVICE, SET

MINUTE = 60.0
INDEX = "grove.io/podclique-pod-index"


def until_ready(simulation: Simulation, pods: int, within: float) -> float:
    """Seconds until so many pods are ready."""
    began = simulation.world.now
    while len(simulation.world.pods()) < pods or simulation.machines.tick():
        simulation.let_pass(1.0)
        assert simulation.world.now - began < within
    return simulation.world.now - began


@pytest.mark.parametrize("minutes", [1, 10, 40])
def test_a_server_that_comes_back_is_asked_again_within_a_minute(minutes: int) -> None:
    simulation = Simulation()
    simulation.world.apply(demo())
    simulation.let_pass(0.01)
    simulation.network.go_down(minutes * MINUTE)
    for pod in simulation.world.pods()[:3]:
        simulation.world.delete(POD, pod["metadata"]["name"])
    simulation.let_pass(minutes * MINUTE)
    until_ready(simulation, pods=11, within=MINUTE)
    simulation.settle()
    assert_all_ready(simulation)
    assert_no_orphan(simulation)


@pytest.mark.parametrize("edit", [image("second"), replicas(2), replicas(0)], ids=["an update", "a scale-out", "a scale-in"])
def test_a_server_that_was_restored_from_a_backup_is_followed_from_there(edit: Callable[[Manifest], None]) -> None:
    """What was done since is undone, and an operator that goes on knows of nothing that the server does not."""
    simulation = running(demo(terminationDelay="10m0s"))
    backup = simulation.world.moment()
    simulation.edit(edit)
    simulation.settle()
    simulation.network.go_down(MINUTE)
    simulation.world.cluster.store.restore(backup.objects, backup.version)
    simulation.let_pass(2 * MINUTE)
    simulation.settle()
    assert {one["metadata"]["uid"] for one in simulation.world.pods()} == {
        uid_of(one) for ref, one in backup.objects.items() if ref[:2] == POD[::2]
    }
    simulation.world.delete(POD, simulation.world.pods()[0]["metadata"]["name"])
    simulation.edit(edit)
    simulation.settle()
    assert_all_ready(simulation)
    assert_no_orphan(simulation)


def test_a_server_that_refuses_for_an_hour_is_asked_again_within_a_minute() -> None:
    """As one does whose etcd has no space or no quorum: what is watched is well, and each write fails."""
    simulation = Simulation()
    simulation.network.failures = 10**9
    simulation.world.apply(demo())
    simulation.let_pass(60 * MINUTE)
    simulation.network.failures = 0
    until_ready(simulation, pods=11, within=MINUTE)
    simulation.settle()
    assert_all_ready(simulation)


def test_a_slow_server_is_waited_for() -> None:
    simulation = Simulation()
    simulation.network.latency = 5.0
    simulation.world.apply(demo())
    until_ready(simulation, pods=11, within=3 * MINUTE)
    simulation.settle()
    assert_all_ready(simulation)


def test_watches_that_fall_silent_are_renewed_after_two_minutes() -> None:
    simulation = running()
    simulation.let_pass(1)  # it has read all that there is
    simulation.world.cluster.stall_watches()
    simulation.world.delete(POD, simulation.world.pods()[0]["metadata"]["name"])
    simulation.let_pass(100)
    assert len(simulation.world.pods()) == 10, "nobody has told"
    simulation.let_pass(30)
    assert len(simulation.world.pods()) == 11
    simulation.settle()
    assert_all_ready(simulation)


def test_pods_that_have_become_ready_on_a_silent_watch_are_not_replaced_as_if_they_were_not() -> None:
    """The connection of one watch is cut off, as by a firewall, and all others go on: an edit took every pod that served."""
    simulation = running()
    pods = {one["metadata"]["uid"] for one in simulation.world.pods()}
    simulation.machines.fail("demo-0")
    simulation.settle()
    assert simulation.status()["availableReplicas"] == 0
    simulation.world.cluster.stall_watches(Ref.of(simulation.world.pods()[0]))
    simulation.machines.failing.clear()
    simulation.machines.tick()
    simulation.wait(10)
    assert simulation.status()["availableReplicas"] == 0, "nobody has told"
    watched(simulation).edit(image("2"))
    simulation.settle()
    assert_all_ready(simulation)
    assert pods.isdisjoint({one["metadata"]["uid"] for one in simulation.world.pods()})


def test_pods_that_restart_again_and_again_are_replaced_at_once_however_late_a_watch_tells_it() -> None:
    """Or those of a large scaling-group replica were not for as long as one of them crashed at each try."""
    simulation = running()
    simulation.machines.fail("demo-0")
    simulation.settle()
    simulation.network.silent["Pod"] = simulation.loop.time() + 10
    old = simulation.world.pods()
    for pod in old:
        [container] = pod["status"]["containerStatuses"]
        simulation.world.report(pod, **{**pod["status"], "containerStatuses": [{**container, "restartCount": 1}]})
    simulation.edit(image("2"))
    simulation.let_pass(2)
    assert simulation.images() == {"2"}


def test_a_set_is_scaled_in_at_once_after_a_day_in_which_nothing_was_heard() -> None:
    simulation = running(demo(replicas=2))
    simulation.let_pass(24 * 60 * MINUTE)
    simulation.edit(replicas(1))
    simulation.let_pass(3)
    assert simulation.world.pods("demo-1") == []
    simulation.settle()
    assert_no_orphan(simulation)


def test_what_somebody_takes_our_label_from_gets_it_back_and_goes_with_its_replica() -> None:
    """Whoever watches a selection is told that what leaves it is deleted, and must not believe that for ever."""
    simulation = running(demo(replicas=2))
    simulation.let_pass(1)
    name = "demo-1"
    simulation.edit(lambda one: one["metadata"]["labels"].pop(MANAGED_BY), kind=SERVICE, name=name)
    simulation.settle()
    assert MANAGED_BY in simulation.world.get(SERVICE, name)["metadata"]["labels"]
    simulation.edit(replicas(1))
    simulation.settle()
    assert simulation.world.find(SERVICE, name) is None


def test_who_takes_over_scales_in_at_once() -> None:
    simulation = running(demo(replicas=2), candidates=2)
    simulation.let_pass(60 * MINUTE)
    [old] = [one for one in simulation.operators if one.leads]
    [new] = [one for one in simulation.operators if one is not old]
    old.connection.cut_until = float("inf")
    simulation.edit(replicas(1))
    while not new.leads:
        simulation.let_pass(1)
    simulation.let_pass(3)
    assert simulation.world.pods("demo-1") == []


def test_a_leader_that_was_cut_off_writes_nothing_once_another_leads() -> None:
    """Not even what it had begun: that is given up before the lease is over."""
    simulation = running(candidates=2)
    simulation.let_pass(30)
    [old] = [one for one in simulation.operators if one.leads]
    [new] = [one for one in simulation.operators if one is not old]
    simulation.network.latency = 0.2
    simulation.edit(replicas(3))
    simulation.let_pass(0.5)
    old.connection.cut_until = simulation.loop.time() + MINUTE
    simulation.let_pass(1)  # what was on its way has arrived by now
    before = old.connection.sent
    assert before > 0
    simulation.let_pass(2 * MINUTE)
    simulation.network.latency = 0.0
    simulation.settle()
    assert new.leads and new.connection.sent > 0
    assert old.connection.sent == before
    assert_all_ready(simulation)


def test_434_a_node_that_is_lost_is_noticed_when_its_pods_are_said_to_be_not_ready() -> None:
    simulation = running()
    simulation.machines.fail("demo-0-front")
    simulation.machines.tick()
    simulation.let_pass(1.5)  # bad news waits a second
    assert simulation.status()["availableReplicas"] == 0


def test_401_a_pod_that_does_not_go_is_replaced_and_told_of() -> None:
    """Its node is gone: nobody says that it has ended."""
    simulation = running()
    [stuck] = [one for one in simulation.world.pods("demo-0-front") if label(one, INDEX) == "0"]
    simulation.machines.lost.add(stuck["metadata"]["uid"])
    simulation.world.delete(POD, stuck["metadata"]["name"])
    simulation.settle()
    assert_all_ready(simulation)
    assert len(simulation.world.pods("demo-0-front")) == 2
    assert simulation.world.find(POD, stuck["metadata"]["name"]) is not None
    simulation.wait(2 * MINUTE)
    [told] = [one for one in simulation.world.told if one.startswith("PodStuckTerminating")]
    assert f"Pod {stuck['metadata']['name']} should have terminated by" in told and "still occupies node node" in told
    simulation.machines.lost.clear()
    simulation.settle()
    assert_no_orphan(simulation)


@pytest.mark.parametrize("kind", [GROUP, CLIQUE, SET], ids=lambda kind: kind.kind)
@pytest.mark.parametrize("deleted", [1, 4, 8])
def test_what_an_update_has_deleted_comes_back_while_statuses_are_denied(kind: Kind, deleted: int) -> None:
    """As by a policy of somebody else. No update is told to have ended meanwhile, and it goes on afterwards."""
    simulation, is_denied = running(), [True]
    before = len(simulation.world.pods())

    def is_refused(request: MemoryRequest) -> bool:
        is_status = request.writes and request.resource.kind == kind and request.subresource == "status"
        return is_status and is_denied[0] and len(simulation.deleted("RollingUpdate")) >= deleted

    simulation.world.cluster.fail(is_refused, Forbidden(403, "Forbidden", "statuses are frozen"), times=-1)
    simulation.edit(image("second"))
    simulation.wait(120)
    assert_all_ready(simulation)
    assert len(simulation.world.pods()) == before
    assert "updateEndedAt" not in simulation.status()["updateProgress"] or simulation.images() == {"second"}
    is_denied[0] = False
    simulation.wait(120)
    assert simulation.images() == {"second"}
    assert simulation.status()["updateProgress"]["updateEndedAt"]
