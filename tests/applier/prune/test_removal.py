"""Deleting the objects of a graph, and whole sets, on a cluster in memory."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from applier.cluster import Resource
from applier.errors import Forbidden, WriteConflict
from applier.events import Event, Finished, Planned, RunEnded
from applier.outcome import Action
from applier.prune import Deleter, delete, delete_set
from applier.prune.applyset import PARENT_TYPE, ApplySetScope, parent_manifest
from applier.prune.members import API_SERVICE
from applier.ref import Kind, Ref, resource_version_of, uid_of
from applier.testing.memory import MemoryCluster
from applier.testing.memory.faults import MemoryRequest

from .sets import CONFIG_MAP, account, applyset, config, graph, run, said, there

SOON = 0.05
HOLD = ["example.org/hold"]


def to_the_end(cluster: MemoryCluster, **options: Any) -> Deleter:
    """A deletion that waits until everything is gone."""
    return Deleter(cluster, **{"seconds": 300.0, "wait_for_all": True, **options})


def at_once(cluster: MemoryCluster) -> Deleter:
    """A deletion that waits for nothing."""
    return Deleter(cluster, seconds=0.0)


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


async def test_what_a_graph_names_goes_whoever_made_it(cluster: MemoryCluster) -> None:
    cluster.seed(config("a"), account("b"), config("stranger"))
    assert said(await delete(graph(config("a"), account("b")), to_the_end(cluster))) == {"a": "pruned", "b": "pruned"}
    assert there(cluster) == {"default/stranger"}


async def test_an_object_that_only_moved_on_meanwhile_goes(cluster: MemoryCluster) -> None:
    [live] = cluster.seed(config("a"))
    cluster.fail("delete", WriteConflict(409, "Conflict", "has moved on"))
    [outcome] = await delete(graph(config("a")), to_the_end(cluster))
    assert (outcome.action, outcome.uid, outcome.step.resource_version) == (Action.PRUNED, uid_of(live), resource_version_of(live))


async def test_what_is_not_there_is_told(cluster: MemoryCluster) -> None:
    cluster.seed(config("a"))
    outcomes = await delete(graph(config("none"), config("a")), to_the_end(cluster))
    assert [(outcome.action, outcome.reason) for outcome in outcomes] == [(Action.PRUNED, ""), (Action.FAILED, "not found")]


async def test_what_is_not_there_may_be_fine(cluster: MemoryCluster) -> None:
    assert await delete(graph(config("none")), to_the_end(cluster), ignore_not_found=True) == []


async def test_what_stays_has_failed(cluster: MemoryCluster) -> None:
    cluster.seed(config("a", finalizers=HOLD))
    assert said(await delete(graph(config("a")), to_the_end(cluster, seconds=SOON))) == {"a": "failed"}


async def test_a_dry_run_leaves_what_a_graph_names(cluster: MemoryCluster) -> None:
    cluster.seed(config("a"))
    assert said(await delete(graph(config("a")), to_the_end(cluster, dry_run=True))) == {"a": "pruned"}
    assert there(cluster) == {"default/a"}


@pytest.mark.parametrize("whole_set", [False, True])
async def test_who_listens_is_told_of_the_plan_of_each_object_and_of_the_end(cluster: MemoryCluster, whole_set: bool) -> None:
    await run(cluster, config("a"), account("b"))
    told: list[Event] = []
    if whole_set:
        outcomes = await delete_set(applyset(), to_the_end(cluster, sink=told.append))
    else:
        outcomes = await delete(graph(config("a"), account("b"), config("none")), to_the_end(cluster, sink=told.append))
    assert told[0] == Planned({Action.PRUNED: 2}, 1)
    assert [event.outcome for event in told if isinstance(event, Finished)] == outcomes
    assert isinstance(told[-1], RunEnded)
    assert told[-1].counts == Counter(outcome.action for outcome in outcomes)


@pytest.mark.parametrize("whole_set", [False, True])
async def test_what_goes_in_time_has_not_failed(cluster: MemoryCluster, whole_set: bool) -> None:
    await run(cluster, config("a", finalizers=HOLD))

    async def release(request: MemoryRequest) -> None:
        if request.verb == "watch":
            for _ in range(20):  # turns in which whoever does not wait has given up
                await asyncio.sleep(0)
            cluster.store.remove(Ref.of(config("a")))

    cluster.before = release
    deleting = delete_set(applyset(), to_the_end(cluster)) if whole_set else delete(graph(config("a")), to_the_end(cluster))
    assert said(await deleting)["a"] == "pruned"


async def test_a_member_that_stays_has_failed_and_keeps_the_record(cluster: MemoryCluster) -> None:
    await run(cluster, config("a", finalizers=HOLD))
    assert said(await delete_set(applyset(), to_the_end(cluster, seconds=SOON))) == {"a": "failed"}
    assert there(cluster, "Secret") == {"default/shop"}


async def test_whoever_does_not_wait_is_told_what_was_asked_for(cluster: MemoryCluster) -> None:
    cluster.seed(config("a", finalizers=HOLD))
    assert said(await delete(graph(config("a")), at_once(cluster))) == {"a": "pruned"}


async def test_whoever_does_not_wait_holds_nothing_back(cluster: MemoryCluster) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    cluster.seed(config("a", finalizers=HOLD))
    assert said(await delete(graph(namespace, config("a")), at_once(cluster))) == {"a": "pruned", "default": "pruned"}


async def test_what_was_going_already_is_waited_for(cluster: MemoryCluster) -> None:
    cluster.seed(config("a", finalizers=HOLD, deletionTimestamp="2026-01-01T00:00:00Z"))
    assert said(await delete(graph(config("a")), to_the_end(cluster, seconds=SOON))) == {"a": "failed"}


OWNED = config("child", ownerReferences=[{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "1"}])


async def test_what_a_graphs_object_owns_may_be_left(cluster: MemoryCluster) -> None:
    cluster.seed(config("a", uid="1"), OWNED)
    await delete(graph(config("a")), to_the_end(cluster, propagation="Orphan"))
    assert there(cluster) == {"default/child"}


async def test_what_a_member_owns_may_be_left(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    live = cluster.find(Ref.of(config("a")))
    assert live is not None
    cluster.seed({**live, "metadata": {**live["metadata"], "uid": "1"}}, OWNED)
    await delete_set(applyset(), to_the_end(cluster, propagation="Orphan"))
    assert there(cluster) == {"default/child"}


async def test_a_set_goes_with_its_record(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), account("b"))
    assert said(await delete_set(applyset(), to_the_end(cluster))) == {"a": "pruned", "b": "pruned", "shop": "pruned"}
    assert there(cluster) == there(cluster, "Secret") == set()


async def test_a_set_that_is_not_there_is_no_error(cluster: MemoryCluster) -> None:
    assert await delete_set(applyset(), to_the_end(cluster)) == []


async def test_whoever_does_not_wait_holds_back_no_member_of_a_set(cluster: MemoryCluster) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u"}
    await run(cluster, config("a"), config("b", ownerReferences=[owner], finalizers=HOLD))
    assert set(said(await delete_set(applyset(), at_once(cluster))).values()) == {"pruned"}


async def test_the_record_stays_as_long_as_a_member_does(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), account("b"))
    cluster.fail(lambda request: request.verb == "delete" and request.name == "a", Forbidden(403, "Forbidden", "no"), times=-1)
    assert said(await delete_set(applyset(), to_the_end(cluster))) == {"a": "failed", "b": "pruned"}
    assert there(cluster, "Secret") == {"default/shop"}


async def test_a_parent_with_data_of_its_own_stays(cluster: MemoryCluster) -> None:
    await run(cluster, account("a"), of=applyset(kind=CONFIG_MAP))
    resource = await cluster.resource(CONFIG_MAP)
    await cluster.patch(resource, "default", "shop", {"data": {"mine": "1"}})
    assert said(await delete_set(applyset(kind=CONFIG_MAP), to_the_end(cluster))) == {"a": "pruned"}
    assert there(cluster) == {"default/shop"}


async def test_a_parent_with_binary_data_of_its_own_stays(cluster: MemoryCluster) -> None:
    await run(cluster, account("a"), of=applyset(kind=CONFIG_MAP))
    resource = await cluster.resource(CONFIG_MAP)
    await cluster.patch(resource, "default", "shop", {"binaryData": {"mine": "MQ=="}})
    assert said(await delete_set(applyset(kind=CONFIG_MAP), to_the_end(cluster))) == {"a": "pruned"}
    assert there(cluster) == {"default/shop"}


async def test_a_parent_of_a_kind_of_its_own_stays(cluster: MemoryCluster) -> None:
    of = applyset(kind=Kind("example.org", "v1", "Shop"))
    names = {"kind": "Shop", "plural": "shops"}
    spec = {"group": "example.org", "scope": "Namespaced", "names": names, "versions": [{"name": "v1", "served": True}]}
    metadata = {"name": "shops.example.org", "labels": {PARENT_TYPE: "true"}}
    cluster.seed({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec})
    cluster.seed(parent_manifest(of, ApplySetScope()))
    await run(cluster, config("a"), of=of)
    assert said(await delete_set(of, to_the_end(cluster))) == {"a": "pruned"}
    assert there(cluster, "Shop") == {"default/shop"}


async def test_the_record_stays_as_long_as_members_are_out_of_reach(cluster: MemoryCluster) -> None:
    cluster.serve(Resource(API_SERVICE, "apiservices", namespaced=False))
    spec = {"group": "example.org", "version": "v1", "service": {"name": "s"}}
    cluster.seed({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.example.org"}, "spec": spec})
    cluster.seed(parent_manifest(applyset(), ApplySetScope(frozenset({("example.org", "Widget")}))))
    assert await delete_set(applyset(), to_the_end(cluster)) == []
    assert there(cluster, "Secret") == {"default/shop"}


async def test_a_record_goes_because_its_set_is_empty(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    cluster.fail(lambda request: request.verb == "delete" and request.name == "shop", WriteConflict(409, "Conflict", "has moved on"))
    parent = cluster.find(applyset().parent)
    assert parent is not None
    outcome = (await delete_set(applyset(), to_the_end(cluster)))[-1]
    assert (outcome.action, outcome.reason, outcome.uid) == (Action.PRUNED, "the ApplySet is empty", uid_of(parent))


async def test_a_dry_run_of_a_set_leaves_everything(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    cluster.forget_requests()
    assert said(await delete_set(applyset(), to_the_end(cluster, dry_run=True))) == {"a": "pruned", "shop": "pruned"}
    assert cluster.writes() == []
