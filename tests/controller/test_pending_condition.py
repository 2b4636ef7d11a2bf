"""A set that has waited for a while says why, in one condition: the words of `grove why`."""

from __future__ import annotations

import asyncio

from applier.ref import Kind, Manifest
from applier.testing.virtual_time import in_virtual_time
from grove_compiler.step import Key, StepHold
from grove_operator.controller.pending_condition import PendingTracker

from .whole import REPLICAS, WholeOperator, operator_running

POD, EVENT = Kind("", "v1", "Pod"), Kind("", "v1", "Event")
CLIQUE = Kind("grove.io", "v1alpha1", "PodClique")
UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/5 nodes are available"}


def why(world: WholeOperator) -> str:
    """What the set says of itself."""
    [set] = world.of(Kind("grove.io", "v1alpha1", "PodCliqueSet"))
    told = [one for one in set.get("status", {}).get("conditions", []) if one["type"] == "WhyPending"]
    return " ".join(f"{one['status']} {one['reason']} {one['message']}" for one in told)


def pod(world: WholeOperator, hostname: str) -> Manifest:
    return next(one for one in world.of(POD) if one["spec"]["hostname"] == hostname)


def running_pod(one: Manifest) -> Manifest:
    status = {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]}
    return {**one, "spec": {**one["spec"], "nodeName": "node-1"}, "status": status}


@in_virtual_time
async def test_nothing_is_said_while_a_set_comes_up() -> None:
    async with operator_running() as world:
        await asyncio.sleep(20)
        assert why(world) == ""


@in_virtual_time
async def test_703_and_707_after_a_while_the_last_cause_is_told() -> None:
    async with operator_running() as world:
        await asyncio.sleep(60)
        name = pod(world, "chat-0-worker-0")["metadata"]["name"]
        assert why(world) == f"True SchedulerSilent Pod {name}: the scheduler default-scheduler has not reported anything about it"


@in_virtual_time
async def test_what_somebody_has_scaled_to_nothing_is_told_and_nothing_else() -> None:
    async with operator_running() as world:
        await asyncio.sleep(20)
        for one in world.of(CLIQUE):
            await world.seed({**one, "spec": {**one["spec"], "replicas": 0}})
        await asyncio.sleep(60)
        assert why(world) == "True ScaledIn PodCliqueSet chat: replica 0: chat-0-worker is scaled to 0, fewer than minAvailable (2)"


@in_virtual_time
async def test_what_is_told_follows_what_the_pod_says() -> None:
    async with operator_running() as world:
        await asyncio.sleep(60)
        first = pod(world, "chat-0-worker-0")
        await world.seed({**first, "status": {"phase": "Pending", "conditions": [UNSCHEDULABLE]}})
        assert why(world).endswith(f"Pod {first['metadata']['name']}: default-scheduler cannot place it: 0/5 nodes are available")


@in_virtual_time
async def test_a_set_that_waits_writes_nothing_while_nothing_changes() -> None:
    async with operator_running() as world:
        await asyncio.sleep(60)
        world.cluster.forget_requests()
        await asyncio.sleep(300)
        assert world.writes() == {}


@in_virtual_time
async def test_it_is_taken_back_when_all_pods_are_ready_and_the_next_time_is_waited_for_anew() -> None:
    async with operator_running() as world:
        await asyncio.sleep(60)
        for one in world.of(POD):
            world.cluster.seed(running_pod(one))
        await asyncio.sleep(5)
        assert why(world) == ""
        last = running_pod(pod(world, f"chat-{REPLICAS - 1}-worker-1"))
        await world.seed(
            {**last, "status": {**last["status"], "conditions": [{"type": "Ready", "status": "False", "message": "probe"}]}}, 20
        )
        assert why(world) == ""
        await asyncio.sleep(30)
        assert why(world) == f"True NotReady Pod {last['metadata']['name']}: it is running on node-1 but not ready: probe"


@in_virtual_time
async def test_511_the_reason_is_an_event_once_however_its_words_change() -> None:
    async with operator_running() as world:
        for nodes in range(5):
            for one in world.of(POD):
                await world.seed({**one, "status": {"phase": "Pending", "conditions": [{**UNSCHEDULABLE, "message": f"0/{nodes} nodes"}]}})
            await asyncio.sleep(60)
        assert [one["type"] for one in world.of(EVENT) if one["reason"] == "Unschedulable"] == ["Warning"]


@in_virtual_time
async def test_what_is_so_for_a_moment_is_no_event_although_the_set_has_waited_for_long() -> None:
    """A clique that is scaled out again lacks pods, and those report nothing yet."""
    async with operator_running() as world:
        await asyncio.sleep(5)
        for one in world.of(POD):
            world.cluster.seed(running_pod(one))
        cliques = {one["metadata"]["name"]: one["spec"]["replicas"] for one in world.of(CLIQUE)}
        for one in world.of(CLIQUE):
            await world.seed({**one, "spec": {**one["spec"], "replicas": 0}})
        await asyncio.sleep(60)
        for one in world.of(CLIQUE):
            world.cluster.seed({**one, "spec": {**one["spec"], "replicas": cliques[one["metadata"]["name"]]}})
        await asyncio.sleep(1)
        for one in world.of(POD):
            world.cluster.seed(running_pod(one))
        await asyncio.sleep(60)
        assert why(world) == ""
        left = {"PodStuckTerminating"}  # no kubelet ends the pods here
        assert {one["reason"] for one in world.of(EVENT) if one["type"] == "Warning"} - left == {"ScaledIn"}


@in_virtual_time
async def test_an_event_that_was_told_is_not_told_again_when_its_reason_comes_back() -> None:
    async with operator_running() as world:
        for reason in ("Unschedulable", "", "Unschedulable", ""):
            for one in world.of(POD):
                await world.seed({**one, "status": {"phase": "Pending", "conditions": [{**UNSCHEDULABLE, "reason": reason}]}})
            await asyncio.sleep(60 if reason else 2)
        assert len([one for one in world.of(EVENT) if one["reason"] == "Unschedulable"]) == 1


@in_virtual_time
async def test_after_a_restart_a_set_goes_on_saying_what_it_waits_for_whatever_else_its_status_says() -> None:
    async with operator_running() as world:
        await asyncio.sleep(60)
        told = why(world)
        await world.stop()
        world.start()
        await world.declare(REPLICAS + 1, 2)
        assert why(world) == told
        await asyncio.sleep(60)
        assert why(world) == told


@in_virtual_time
async def test_after_a_restart_it_is_taken_back_where_all_pods_have_become_ready_meanwhile() -> None:
    async with operator_running() as world:
        await asyncio.sleep(60)
        await world.stop()
        for one in world.of(POD):
            world.cluster.seed(running_pod(one))
        world.start()
        await asyncio.sleep(10)
        assert why(world) == ""


def test_of_a_set_that_is_gone_nothing_is_remembered() -> None:
    tracker, set = PendingTracker(), Key("PodCliqueSet", "default", "chat")
    nothing = {**vars(PendingTracker())}
    for key in (set, set._replace(replica=0)):
        tracker.observe(key, StepHold("wrong"))
    for key in (set, set._replace(replica=0)):
        tracker.observe(key, None)
    assert vars(tracker) == nothing
