"""Gang termination: what stays short of pods is restarted as a whole, in time, once, and not behind anybody's back."""

from __future__ import annotations

import asyncio

import pytest

from applier.ref import Kind
from tests.simulation.sets import demo, image, replicas
from tests.simulation.simulation import Simulation, running
from tests.simulation.watch import assert_all_ready, assert_no_orphan
from tests.simulation.world import CLIQUE, GROUP, POD

TERMINATED = "GangTermination"
MINUTE = 60.0


def briefly_tolerant(replicas: int = 1, min_available: int = 1) -> Simulation:
    """A set whose gangs have a minute to recover."""
    manifest = demo(replicas=replicas, terminationDelay="1m0s")
    manifest["spec"]["template"]["podCliqueScalingGroups"][0]["minAvailable"] = min_available
    return running(manifest)


def told(simulation: Simulation) -> list[str]:
    """The reasons of all events about it, in the order in which they were told."""
    reasons = [one.partition(":")[0] for one in simulation.world.told]
    return [one for one in reasons if one.startswith("GangTerminat")]


def condition(simulation: Simulation, kind: Kind, name: str) -> tuple[str, str]:
    """Status and reason of MinAvailableBreached."""
    conditions = simulation.status(kind, name)["conditions"]
    return next((one["status"], one["reason"]) for one in conditions if one["type"] == "MinAvailableBreached")


def of_replica(simulation: Simulation) -> list[str]:
    return sorted({name.split("-")[1] for name in simulation.deleted(TERMINATED)})


def test_a_replica_of_a_group_that_can_do_without_it_is_restarted_alone() -> None:
    """As recorded of the shipped operator: `gang-termination`."""
    simulation = briefly_tolerant()
    simulation.machines.fail("demo-0-sg-0-dec")
    simulation.settle()
    assert simulation.deleted(TERMINATED) == []
    simulation.wait(MINUTE)
    assert {name.rpartition("-")[0] for name in simulation.deleted(TERMINATED)} == {"demo-0-sg-0-pre", "demo-0-sg-0-dec"}
    assert len(simulation.deleted(TERMINATED)) == 3
    assert_all_ready(simulation)
    assert_no_orphan(simulation)


def test_the_replica_of_the_set_goes_where_its_group_cannot_do_without() -> None:
    simulation = briefly_tolerant(min_available=3)
    simulation.machines.fail("demo-0-sg-1-dec")
    simulation.settle()
    simulation.wait(MINUTE)
    assert len(simulation.deleted(TERMINATED)) == 11
    assert_all_ready(simulation)


def test_it_is_looked_at_when_the_deadline_has_come_and_not_before() -> None:
    simulation = briefly_tolerant()
    simulation.machines.fail("demo-0-front")
    began = simulation.world.now
    simulation.settle()
    simulation.let_pass(began + MINUTE - 1 - simulation.world.now)
    assert simulation.deleted(TERMINATED) == []
    simulation.let_pass(6)  # a second each to notice and to tell
    assert len(simulation.deleted(TERMINATED)) == 11


def test_what_recovers_in_time_is_left_alone() -> None:
    """As recorded of the shipped operator: `breach-recovered`."""
    simulation = briefly_tolerant()
    simulation.machines.fail("demo-0-front")
    simulation.settle()
    simulation.wait(MINUTE / 2)
    simulation.machines.failing.clear()
    simulation.settle()
    simulation.wait(10 * MINUTE)
    assert simulation.operator.deleted == []
    assert simulation.operator.process.loop.queue.delayed() == 0


@pytest.mark.parametrize(("min_available", "clique"), [(1, "demo-0-front"), (1, "demo-0-sg-0-dec"), (3, "demo-0-sg-1-dec")])
def test_what_recovers_while_nobody_looks_is_left_alone_however_late_it_is_seen(min_available: int, clique: str) -> None:
    """The operator was away at the deadline: it finds the breach reported, and all pods well."""
    simulation = briefly_tolerant(min_available=min_available)
    simulation.machines.fail(clique)
    simulation.settle()
    simulation.operator.kill()
    simulation.machines.failing.clear()
    simulation.loop.run_until_complete(asyncio.sleep(2 * MINUTE))
    while simulation.machines.tick():
        pass
    simulation.operator.start()
    simulation.settle()
    simulation.wait(MINUTE)
    assert simulation.deleted(TERMINATED) == []
    assert_all_ready(simulation)


def test_what_never_ran_is_not_restarted() -> None:
    simulation = Simulation(room=5)
    simulation.world.apply(demo(terminationDelay="1m0s"))
    simulation.settle()
    for _ in range(3):
        simulation.wait(10 * MINUTE)
    assert simulation.deleted(TERMINATED) == []


def test_277_people_are_warned_and_told() -> None:
    simulation = briefly_tolerant()
    simulation.machines.fail("demo-0-front")
    simulation.settle()
    assert told(simulation) == ["GangTerminationPending"]
    simulation.wait(MINUTE)
    # Its new pods are short of being ready as well for some seconds, and have a deadline, too.
    assert told(simulation)[:2] == ["GangTerminationPending", "GangTerminated"]
    messages = "\n".join(simulation.world.told)
    assert "Restarting replica 0: demo-0-front has been below minAvailable since" in messages


def test_a_start_that_takes_its_time_is_no_news() -> None:
    assert told(briefly_tolerant(replicas=2)) == []


@pytest.mark.parametrize(("kind", "name"), [(GROUP, "demo-0-sg"), (CLIQUE, "demo-0-front")])
def test_676_what_somebody_scales_to_nothing_takes_nobody_else_down(kind: Kind, name: str) -> None:
    """Workers that an autoscaler puts to sleep took the frontend with them: no restart would bring them back."""
    simulation = briefly_tolerant()
    others = {one["metadata"]["uid"] for one in simulation.world.pods() if not one["metadata"]["name"].startswith(name)}
    simulation.edit(replicas(0), kind=kind, name=name)
    simulation.settle()
    for _ in range(3):
        simulation.wait(10 * MINUTE)
    assert {one["metadata"]["uid"] for one in simulation.world.pods()} == others
    assert told(simulation) == []


NIGHT = 10 * 60 * MINUTE


@pytest.mark.parametrize(("kind", "name"), [(GROUP, "demo-0-sg"), (CLIQUE, "demo-0-front")])
@pytest.mark.parametrize("count", [1, 3])
def test_what_comes_back_after_a_night_at_zero_takes_nobody_else_down(kind: Kind, name: str, count: int) -> None:
    simulation = briefly_tolerant()
    others = {one["metadata"]["uid"] for one in simulation.world.pods() if not one["metadata"]["name"].startswith(name)}
    simulation.edit(replicas(0), kind=kind, name=name)
    simulation.settle()
    simulation.wait(NIGHT)
    simulation.edit(replicas(count), kind=kind, name=name)
    simulation.settle()
    simulation.wait(NIGHT)
    assert others <= {one["metadata"]["uid"] for one in simulation.world.pods()}
    assert told(simulation) == []
    assert_all_ready(simulation)


@pytest.mark.parametrize(("kind", "name"), [(GROUP, "demo-0-sg"), (CLIQUE, "demo-0-front")])
def test_what_finds_no_room_when_it_comes_back_takes_nobody_else_down(kind: Kind, name: str) -> None:
    """A restart would free nothing that it could have: it counts as what never ran."""
    simulation = briefly_tolerant()
    simulation.edit(replicas(0), kind=kind, name=name)
    simulation.settle()
    simulation.wait(NIGHT)
    others = {one["metadata"]["uid"] for one in simulation.world.pods()}
    simulation.machines.room = len(others)
    simulation.edit(replicas(2), kind=kind, name=name)
    simulation.settle()
    simulation.wait(NIGHT)
    assert others <= {one["metadata"]["uid"] for one in simulation.world.pods()}
    assert told(simulation) == []
    assert condition(simulation, kind, name) == ("True", "NotAvailableSinceScaledOut")
    simulation.machines.room = 1000
    simulation.settle()
    assert condition(simulation, kind, name)[0] == "False"


@pytest.mark.parametrize(("kind", "name"), [(GROUP, "demo-0-sg"), (CLIQUE, "demo-0-front")])
def test_what_has_come_back_and_then_fails_is_restarted_as_ever(kind: Kind, name: str) -> None:
    simulation = briefly_tolerant()
    simulation.edit(replicas(0), kind=kind, name=name)
    simulation.settle()
    simulation.edit(replicas(2), kind=kind, name=name)
    simulation.settle()
    simulation.machines.fail(name)
    simulation.settle()
    assert condition(simulation, kind, name)[0] == "True"
    simulation.wait(MINUTE)
    assert told(simulation)[:2] == ["GangTerminationPending", "GangTerminated"]
    assert_all_ready(simulation)


def test_a_breach_of_what_is_scaled_to_zero_meanwhile_is_over() -> None:
    simulation = briefly_tolerant()
    simulation.machines.fail("demo-0-front")
    simulation.settle()
    simulation.wait(MINUTE / 2)
    simulation.edit(replicas(0), kind=CLIQUE, name="demo-0-front")
    simulation.settle()
    simulation.edit(replicas(2), kind=CLIQUE, name="demo-0-front")
    simulation.settle()
    simulation.wait(10 * MINUTE)
    assert simulation.deleted(TERMINATED) == []


@pytest.mark.parametrize("seconds", [1, MINUTE / 2, 2 * MINUTE, NIGHT])
def test_nor_does_a_clique_that_has_fewer_pods_than_it_needs_for_a_while(seconds: float) -> None:
    manifest = demo(front=3, terminationDelay="1m0s")
    manifest["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 2
    simulation = running(manifest)
    others = {one["metadata"]["uid"] for one in simulation.world.pods("demo-0-sg")}
    simulation.edit(replicas(1), kind=CLIQUE, name="demo-0-front")
    simulation.let_pass(seconds)
    simulation.settle()
    simulation.edit(replicas(3), kind=CLIQUE, name="demo-0-front")
    simulation.settle()
    simulation.wait(seconds)
    assert {one["metadata"]["uid"] for one in simulation.world.pods("demo-0-sg")} == others
    assert told(simulation) == []


def test_nor_does_a_clique_that_somebody_gives_fewer_pods_than_its_gang_needs() -> None:
    manifest = demo(front=3, terminationDelay="1m0s")
    manifest["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 2
    simulation = running(manifest)
    simulation.edit(replicas(1), kind=CLIQUE, name="demo-0-front")
    simulation.settle()
    there = {one["metadata"]["uid"] for one in simulation.world.pods()}
    simulation.wait(10 * MINUTE)
    assert {one["metadata"]["uid"] for one in simulation.world.pods()} == there
    assert told(simulation) == []


def test_a_gang_is_restarted_once_and_again_only_after_as_long() -> None:
    simulation = briefly_tolerant()
    simulation.edit(image("broken"))
    simulation.settle()
    simulation.machines.fail("demo-0-front")
    simulation.settle()
    passes = []
    for _ in range(8):
        before = len(simulation.deleted(TERMINATED))
        simulation.wait(MINUTE / 4)
        passes.append(len(simulation.deleted(TERMINATED)) - before)
    assert sum(count > 0 for count in passes) <= 2


def test_of_two_replicas_that_serve_still_one_is_restarted_at_a_time() -> None:
    """The shipped operator restarts both at once, and then parts of them again."""
    manifest = demo(replicas=2, front=3, terminationDelay="1m0s")
    manifest["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 2
    simulation = running(manifest)
    for replica in range(2):
        for pod in simulation.world.pods(f"demo-{replica}-front")[:2]:
            simulation.machines.failing.add(pod["metadata"]["uid"])
    simulation.settle()
    simulation.let_pass(MINUTE)
    simulation.run_operator()
    assert of_replica(simulation) == ["0"]
    simulation.settle()
    assert of_replica(simulation) == ["0", "1"]
    assert len(simulation.deleted(TERMINATED)) == 2 * 12, "each pod once"
    assert_all_ready(simulation)


def test_replicas_that_serve_nobody_have_nothing_to_lose_and_go_at_once() -> None:
    simulation = briefly_tolerant(replicas=2)
    simulation.machines.fail("demo")
    simulation.settle()
    simulation.let_pass(MINUTE)
    simulation.run_operator()
    assert of_replica(simulation) == ["0", "1"]


def test_a_scaled_clique_keeps_its_scale() -> None:
    """The shipped operator deletes the PodClique, and what an autoscaler had set with it."""
    simulation = briefly_tolerant()
    simulation.edit(replicas(4), kind=CLIQUE, name="demo-0-front")
    simulation.settle()
    simulation.machines.fail("demo-0-front")
    simulation.settle()
    simulation.wait(MINUTE)
    assert len(simulation.world.pods("demo-0-front")) == 4
    assert_all_ready(simulation)


def test_a_group_says_so_until_it_has_recovered() -> None:
    simulation = briefly_tolerant(min_available=3)
    simulation.machines.fail("demo-0-sg-1-dec")
    simulation.settle()
    simulation.let_pass(MINUTE)
    simulation.run_operator()
    conditions = {one["type"]: one["status"] for one in simulation.status(GROUP, "demo-0-sg")["conditions"]}
    assert conditions == {"MinAvailableBreached": "True", "GangTerminationInProgress": "True"}
    simulation.settle()
    conditions = {one["type"]: one["status"] for one in simulation.status(GROUP, "demo-0-sg")["conditions"]}
    assert conditions == {"MinAvailableBreached": "False"}


def test_so_does_every_group_of_the_replica_whatever_it_was_restarted_for() -> None:
    simulation = briefly_tolerant()
    simulation.machines.fail("demo-0-front")
    simulation.settle()
    simulation.let_pass(MINUTE)
    simulation.run_operator()
    simulation.let_pass(2)  # bad news waits for a moment
    conditions = {one["type"]: one["status"] for one in simulation.status(GROUP, "demo-0-sg")["conditions"]}
    assert conditions == {"MinAvailableBreached": "True", "GangTerminationInProgress": "True"}
    simulation.settle()
    conditions = {one["type"]: one["status"] for one in simulation.status(GROUP, "demo-0-sg")["conditions"]}
    assert conditions == {"MinAvailableBreached": "False"}


def lost(simulation: Simulation) -> list[str]:
    """What events say that the last pod was lost."""
    return [one for one in simulation.world.told if one.startswith("AllScheduledReplicasLost")]


def in_a_moment(simulation: Simulation) -> None:
    """Machines do in less than a second what there is to do."""
    for _ in range(10):
        simulation.machines.tick()
        simulation.let_pass(0.05)


def delete_pods(simulation: Simulation, prefix: str) -> None:
    for pod in simulation.world.pods(prefix):
        simulation.world.delete(POD, pod["metadata"]["name"])


def test_pods_that_we_restart_are_not_told_of_as_lost() -> None:
    """People are told why they go; to look for a node that is down would lead them astray."""
    simulation = briefly_tolerant(min_available=3)
    simulation.machines.fail("demo-0-sg-1-dec")
    simulation.settle()
    simulation.wait(MINUTE)
    assert len(simulation.deleted(TERMINATED)) == 11
    assert lost(simulation) == []


def test_a_pod_that_is_replaced_at_once_is_not_told_of_as_lost() -> None:
    simulation = briefly_tolerant()
    delete_pods(simulation, "demo-0-sg-0-dec")
    in_a_moment(simulation)
    assert_all_ready(simulation)
    assert lost(simulation) == []


def test_pods_that_are_lost_while_their_gang_has_time_left_are_told_of() -> None:
    simulation = briefly_tolerant()
    simulation.machines.fail("demo-0-front")
    simulation.settle()
    simulation.let_pass(MINUTE / 2)
    simulation.machines.cordoned = True
    delete_pods(simulation, "demo-0-sg-0-dec")
    simulation.settle()
    assert len(lost(simulation)) == 1


def test_pods_that_are_lost_after_their_gang_was_restarted_are_told_of() -> None:
    simulation = briefly_tolerant()
    simulation.machines.fail("demo-0-front")
    simulation.settle()
    simulation.wait(MINUTE)
    assert_all_ready(simulation)
    simulation.machines.cordoned = True
    delete_pods(simulation, "demo-0-front")
    simulation.settle()
    assert len(lost(simulation)) == 1


def test_a_group_that_is_updated_is_not_restarted_meanwhile() -> None:
    simulation = briefly_tolerant()
    simulation.edit(image("broken"))
    simulation.settle()
    simulation.wait(10 * MINUTE)
    assert simulation.deleted(TERMINATED) == []


def test_what_a_node_took_with_it_is_made_again_without_a_restart() -> None:
    """As recorded of the shipped operator: `node-deleted`."""
    simulation = briefly_tolerant()
    for pod in (simulation.world.pods("demo-0-sg-0-dec")[0], simulation.world.pods("demo-0-sg-1-pre")[0]):
        simulation.world.delete(POD, pod["metadata"]["name"])
    simulation.settle()
    simulation.wait(10 * MINUTE)
    assert simulation.operator.deleted == []
    assert_all_ready(simulation)
