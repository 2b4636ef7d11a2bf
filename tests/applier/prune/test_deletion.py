"""Deletion wave by wave on a cluster in memory: whom it may hit, what it waits for, and what it tells."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from applier.errors import Forbidden, ServerFailure, WriteConflict
from applier.events import Event, Finished, Started, Waiting, WaveStarted
from applier.outcome import Action, Outcome, Step
from applier.prune.deletion import Deleter, finalizers_of, teardown
from applier.ref import Manifest, Ref, resource_version_of, uid_of
from applier.testing.memory import MemoryCluster
from applier.testing.memory.faults import MemoryRequest

from .sets import config, there

SOON = 0.05
HOLD = ["example.org/hold"]


def owner(name: str) -> list[dict[str, Any]]:
    return [{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": "1"}]


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


async def delete(cluster: MemoryCluster, live: list[Manifest], **choices: Any) -> dict[str, Outcome]:
    """Deletes these objects; what became of each, by name."""
    steps = [Step(Ref.of(one), Action.PRUNED, uid=uid_of(one), resource_version=resource_version_of(one)) for one in live]
    deletion = Deleter(cluster, **{"seconds": SOON, **choices})
    outcomes = await deletion.run(steps, {Ref.of(one): one for one in live}, teardown(live))
    return {outcome.step.ref.name: outcome for outcome in outcomes}


async def test_what_exists_is_deleted(cluster: MemoryCluster) -> None:
    outcomes = await delete(cluster, cluster.seed(config("a"), config("b")))
    assert {outcome.action for outcome in outcomes.values()} == {Action.PRUNED}
    assert there(cluster) == set()


async def test_each_delete_carries_the_uid(cluster: MemoryCluster) -> None:
    [live] = cluster.seed(config("a"))
    cluster.store.remove(Ref.of(live))
    cluster.seed(config("a"))
    outcome = (await delete(cluster, [live]))["a"]
    assert (outcome.action, outcome.reason) == (Action.UNCHANGED, "was replaced by another object of this name since it was read")
    assert there(cluster) == {"default/a"}


async def test_without_a_question_a_change_does_not_matter(cluster: MemoryCluster) -> None:
    [live] = cluster.seed(config("a"))
    cluster.seed(config("a", labels={"touched": "yes"}))
    await delete(cluster, [live])
    assert [request.verb for request in cluster.log] == ["delete"]


async def test_what_changes_all_the_time_fails_in_the_end(cluster: MemoryCluster) -> None:
    cluster.fail("delete", WriteConflict(409, "Conflict", "has moved on"), times=-1)
    outcome = (await delete(cluster, cluster.seed(config("a"))))["a"]
    assert (outcome.action, outcome.reason) == (Action.FAILED, "keeps changing: has moved on")


async def test_a_refusal_is_told_and_the_others_go(cluster: MemoryCluster) -> None:
    cluster.fail(lambda request: request.verb == "delete" and request.name == "a", Forbidden(403, "Forbidden", "may not delete"), times=-1)
    outcomes = await delete(cluster, cluster.seed(config("a"), config("b")))
    assert (outcomes["a"].action, outcomes["a"].reason, outcomes["b"].action) == (Action.FAILED, "may not delete", Action.PRUNED)


async def test_an_owner_stays_when_what_it_owns_could_not_be_deleted(cluster: MemoryCluster) -> None:
    cluster.fail(lambda request: request.verb == "delete" and request.name == "child", ServerFailure(500, "InternalError", "no"), times=-1)
    outcomes = await delete(cluster, cluster.seed(config("parent"), config("child", ownerReferences=owner("parent")), config("other")))
    assert (outcomes["parent"].action, outcomes["parent"].reason) == (Action.HELD, "ConfigMap/default/child depends on it and still exists")
    assert there(cluster) == {"default/parent", "default/child"}


async def test_an_owner_waits_for_finalizers_of_what_it_owns(cluster: MemoryCluster) -> None:
    live = cluster.seed(config("parent"), config("child", ownerReferences=owner("parent"), finalizers=HOLD))

    def release(event: Event) -> None:
        if isinstance(event, Waiting):
            asyncio.get_running_loop().call_soon(cluster.store.remove, event.ref)

    outcomes = await delete(cluster, live, seconds=30.0, sink=release)
    assert {outcome.action for outcome in outcomes.values()} == {Action.PRUNED}
    assert there(cluster) == set()


async def test_a_refusal_is_told_as_it_was_to_whoever_wants_everything_gone(cluster: MemoryCluster) -> None:
    cluster.fail("delete", Forbidden(403, "Forbidden", "may not delete"), times=-1)
    outcome = (await delete(cluster, cluster.seed(config("a")), wait_for_all=True))["a"]
    assert (outcome.action, outcome.reason) == (Action.FAILED, "may not delete")


@pytest.mark.parametrize(("propagation", "left"), [("Background", set()), ("Foreground", set()), ("Orphan", {"default/child"})])
async def test_what_is_owned_stays_only_when_it_is_to_be_orphaned(cluster: MemoryCluster, propagation: str, left: set[str]) -> None:
    live, _ = cluster.seed(config("parent", uid="1"), config("child", ownerReferences=owner("parent")))
    await delete(cluster, [live], propagation=propagation)
    assert there(cluster) == left


async def test_an_outcome_says_how_long_its_deletion_took(cluster: MemoryCluster) -> None:
    began = time.monotonic()
    outcome = (await delete(cluster, cluster.seed(config("a"))))["a"]
    assert 0 < outcome.seconds <= time.monotonic() - began


async def test_what_was_deleted_in_the_last_wave_is_not_waited_for(cluster: MemoryCluster) -> None:
    await delete(cluster, cluster.seed(config("a", finalizers=HOLD)))
    assert [request.verb for request in cluster.log] == ["delete"]


async def test_finalizers_of_kubernetes_itself_are_not_waited_for(cluster: MemoryCluster) -> None:
    live = cluster.seed(config("parent"), config("child", ownerReferences=owner("parent"), finalizers=["foregroundDeletion"]))
    assert (await delete(cluster, live))["parent"].action is Action.PRUNED


async def test_whoever_wants_everything_gone_waits_for_everything(cluster: MemoryCluster) -> None:
    outcome = (await delete(cluster, cluster.seed(config("a", finalizers=HOLD)), wait_for_all=True))["a"]
    assert (outcome.action, outcome.reason) == (Action.FAILED, "is deleted but still exists: waits for finalizer example.org/hold")


async def test_what_cannot_be_watched_is_not_said_to_be_gone(cluster: MemoryCluster) -> None:
    cluster.fail("list", Forbidden(403, "Forbidden", "may not list"), times=-1)
    outcome = (await delete(cluster, cluster.seed(config("a")), wait_for_all=True))["a"]
    assert (outcome.action, outcome.reason) == (Action.FAILED, "is deleted but still exists: cannot be watched: may not list")


async def test_a_step_that_is_held_stays_held_and_holds_its_owner(cluster: MemoryCluster) -> None:
    live = cluster.seed(config("parent"), config("child", ownerReferences=owner("parent")))
    steps = [Step(Ref.of(live[0]), Action.PRUNED, uid=uid_of(live[0])), Step(Ref.of(live[1]), Action.HELD, "too many", uid=uid_of(live[1]))]
    outcomes = await Deleter(cluster).run(steps, {Ref.of(one): one for one in live}, teardown(live))
    assert [(outcome.action, outcome.step.ref.name) for outcome in outcomes] == [(Action.HELD, "child"), (Action.HELD, "parent")]
    assert cluster.log == []


async def test_a_dry_run_deletes_nothing_and_asks_the_server(cluster: MemoryCluster) -> None:
    await delete(cluster, cluster.seed(config("a")), dry_run=True, wait_for_all=True)
    assert [(request.verb, request.dry_run) for request in cluster.log] == [("delete", True)]
    assert there(cluster) == {"default/a"}


async def test_deletes_of_a_wave_run_at_once_but_not_all(cluster: MemoryCluster) -> None:
    async def slow(request: MemoryRequest) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    cluster.before = slow
    await delete(cluster, cluster.seed(*(config(f"c{number}") for number in range(50))))
    assert cluster.most_in_flight == 16


async def test_a_run_is_told_as_it_happens(cluster: MemoryCluster) -> None:
    said: list[Event] = []
    live = cluster.seed(config("parent"), config("child", ownerReferences=owner("parent")))
    await delete(cluster, live, sink=said.append)
    assert [type(event) for event in said] == [WaveStarted, Started, Finished] * 2


def test_finalizers_that_count_are_those_of_others() -> None:
    assert finalizers_of(config("a", finalizers=["orphan", "example.org/hold", "kubernetes.io/pvc-protection"])) == ["example.org/hold"]
