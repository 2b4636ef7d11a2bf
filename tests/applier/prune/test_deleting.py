"""Deleting the objects of a graph, and whole sets, on a cluster in memory."""

from __future__ import annotations

from typing import Any

import pytest

from applier.errors import Forbidden
from applier.outcome import Action
from applier.prune.deleting import delete, delete_set
from applier.prune.record import TOOLING
from applier.testing.memory import MemoryCluster

from .sets import CONFIG_MAP, account, applyset, config, graph, run, said, there

SOON = 0.05


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


async def test_what_a_graph_names_goes_whoever_made_it(cluster: MemoryCluster) -> None:
    cluster.seed(config("a"), account("b"), config("stranger"))
    assert said(await delete(graph(config("a"), account("b")), cluster)) == {"a": "pruned", "b": "pruned"}
    assert there(cluster) == {"default/stranger"}


async def test_what_is_not_there_is_told(cluster: MemoryCluster) -> None:
    cluster.seed(config("a"))
    outcomes = await delete(graph(config("none"), config("a")), cluster)
    assert [(outcome.action, outcome.reason) for outcome in outcomes] == [(Action.PRUNED, ""), (Action.FAILED, "not found")]


async def test_what_is_not_there_may_be_fine(cluster: MemoryCluster) -> None:
    assert await delete(graph(config("none")), cluster, ignore_not_found=True) == []


async def test_what_stays_has_failed(cluster: MemoryCluster) -> None:
    cluster.seed(config("a", finalizers=["example.org/hold"]))
    assert said(await delete(graph(config("a")), cluster, seconds=SOON)) == {"a": "failed"}


async def test_whoever_does_not_wait_is_told_what_was_asked_for(cluster: MemoryCluster) -> None:
    cluster.seed(config("a", finalizers=["example.org/hold"]))
    assert said(await delete(graph(config("a")), cluster, wait=False)) == {"a": "pruned"}


async def test_whoever_does_not_wait_holds_nothing_back(cluster: MemoryCluster) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    cluster.seed(config("a", finalizers=["example.org/hold"]))
    assert said(await delete(graph(namespace, config("a")), cluster, wait=False)) == {"a": "pruned", "default": "pruned"}


async def test_what_was_going_already_is_waited_for(cluster: MemoryCluster) -> None:
    cluster.seed(config("a", finalizers=["example.org/hold"], deletionTimestamp="2026-01-01T00:00:00Z"))
    assert said(await delete(graph(config("a")), cluster, seconds=SOON)) == {"a": "failed"}


async def test_a_set_goes_with_its_record(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), account("b"))
    assert said(await delete_set(applyset(), cluster)) == {"a": "pruned", "b": "pruned", "shop": "pruned"}
    assert there(cluster) == there(cluster, "Secret") == set()


async def test_a_set_that_is_not_there_is_no_error(cluster: MemoryCluster) -> None:
    assert await delete_set(applyset(), cluster) == []


async def test_whoever_does_not_wait_holds_back_no_member_of_a_set(cluster: MemoryCluster) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u"}
    await run(cluster, config("a"), config("b", ownerReferences=[owner], finalizers=["example.org/hold"]))
    assert set(said(await delete_set(applyset(), cluster, wait=False)).values()) == {"pruned"}


async def test_the_record_stays_as_long_as_a_member_does(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), account("b"))
    cluster.fail(lambda request: request.verb == "delete" and request.name == "a", Forbidden(403, "Forbidden", "no"), times=-1)
    assert said(await delete_set(applyset(), cluster)) == {"a": "failed", "b": "pruned"}
    assert there(cluster, "Secret") == {"default/shop"}


async def test_a_parent_with_data_of_its_own_stays(cluster: MemoryCluster) -> None:
    await run(cluster, account("a"), of=applyset(kind=CONFIG_MAP))
    resource = await cluster.resource(CONFIG_MAP)
    await cluster.patch(resource, "default", "shop", {"data": {"mine": "1"}})
    assert said(await delete_set(applyset(kind=CONFIG_MAP), cluster)) == {"a": "pruned"}
    assert there(cluster) == {"default/shop"}


async def test_a_parent_of_another_tool_stays(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"), of=applyset("kubectl/v1"))
    shared: dict[str, Any] = {"shares": ("kubectl",)}
    assert said(await delete_set(applyset(**shared), cluster)) == {"a": "pruned"}
    parent = cluster.find(applyset().parent)
    assert parent is not None
    assert parent["metadata"]["annotations"][TOOLING] == "kubectl/v1"


async def test_a_dry_run_of_a_set_leaves_everything(cluster: MemoryCluster) -> None:
    await run(cluster, config("a"))
    cluster.forget_requests()
    assert said(await delete_set(applyset(), cluster, dry_run=True)) == {"a": "pruned", "shop": "pruned"}
    assert cluster.writes() == []
