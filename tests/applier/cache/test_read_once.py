"""Reading once: by lists or by names, in parallel, and honest about what was not read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from applier.cache import Query, Unread, read_once
from applier.cache.snapshot import by_place
from applier.errors import ClusterError, Forbidden, NotSynced, Unauthorized, Unreachable
from applier.ref import Kind, Ref
from applier.testing.memory import MemoryCluster

from ..things import asks_for
from .conftest import CONFIG_MAP, NODE, POD, SECRET, config_map, ref


@pytest.fixture
def cluster() -> MemoryCluster:
    cluster = MemoryCluster()
    cluster.seed(config_map("a", labels={"app": "x"}), config_map("b"), config_map("c", namespace="kube-system"))
    return cluster


async def test_a_whole_kind_is_read(cluster: MemoryCluster) -> None:
    assert len((await read_once(cluster, [(CONFIG_MAP, "")])).objects) == 3


async def test_one_namespace_is_read(cluster: MemoryCluster) -> None:
    snapshot = await read_once(cluster, [(CONFIG_MAP, "default")])
    assert sorted(one.name for one in snapshot.objects) == ["a", "b"]


async def test_there_is_no_such_object_where_the_kind_was_read(cluster: MemoryCluster) -> None:
    assert (await read_once(cluster, [(CONFIG_MAP, "default")])).get(ref("none")) is None


UNREAD = [Ref("", "ConfigMap", "kube-system", "c"), Ref("", "Pod", "default", "a"), Ref("", "Node", "", "n")]


@pytest.mark.parametrize("unread", UNREAD)
async def test_nothing_is_said_of_what_was_not_read(cluster: MemoryCluster, unread: Ref) -> None:
    with pytest.raises(KeyError, match="was not read"):
        (await read_once(cluster, [(CONFIG_MAP, "default")])).get(unread)


@pytest.mark.parametrize(("names", "verbs"), [(("a", "none"), {"get"}), (tuple("abcdefghij"), {"list"}), ((), {"list"})])
async def test_a_few_objects_are_read_by_name_and_many_by_a_list(cluster: MemoryCluster, names: Sequence[str], verbs: set[str]) -> None:
    snapshot = await read_once(cluster, [Query(CONFIG_MAP, "default", tuple(names))])
    assert {request.verb for request in cluster.log} == verbs
    assert snapshot.get(ref("a")) and snapshot.get(ref("none")) is None if names else snapshot.get(ref("a"))


async def test_reading_some_by_name_says_nothing_of_others(cluster: MemoryCluster) -> None:
    with pytest.raises(KeyError):
        (await read_once(cluster, [Query(CONFIG_MAP, "default", ("a",))])).get(ref("b"))


async def test_reading_by_labels_says_nothing_of_others(cluster: MemoryCluster) -> None:
    snapshot = await read_once(cluster, [(CONFIG_MAP, "default")], labels="app=x")
    assert list(snapshot.objects) == [ref("a")]
    with pytest.raises(KeyError):
        snapshot.get(ref("b"))


async def test_kinds_are_read_in_parallel(cluster: MemoryCluster) -> None:
    await read_once(cluster, [(CONFIG_MAP, ""), (POD, ""), (NODE, "")])
    assert cluster.most_in_flight == 3


async def test_what_is_asked_for_twice_is_read_once(cluster: MemoryCluster) -> None:
    await read_once(cluster, [(CONFIG_MAP, ""), (CONFIG_MAP, "")])
    assert len(cluster.log) == 1


async def test_a_kind_that_nobody_serves_has_no_objects(cluster: MemoryCluster) -> None:
    unknown = Kind("shop.example", "v1", "Order")
    snapshot = await read_once(cluster, [(unknown, "default")])
    assert snapshot.unserved == {unknown}
    assert snapshot.get(Ref("shop.example", "Order", "default", "x")) is None


async def test_values_of_secrets_are_hashes(cluster: MemoryCluster) -> None:
    cluster.seed({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}, "data": {"p": "aHVudGVyMg=="}})
    snapshot = await read_once(cluster, [(SECRET, ""), Query(SECRET, "default", ("s",))])
    assert "aHVudGVyMg==" not in str(snapshot.objects)


async def test_one_failure_is_told_as_it_is(cluster: MemoryCluster) -> None:
    cluster.fail("list", Unreachable("no route"))
    with pytest.raises(Unreachable):
        await read_once(cluster, [(CONFIG_MAP, "")])


async def test_all_failures_are_told_at_once(cluster: MemoryCluster) -> None:
    for plural in ("pods", "nodes"):
        cluster.fail(asks_for(plural), Forbidden(403, "Forbidden", f"may not list {plural}"))
    with pytest.raises(Unread, match="may not list pods; may not list nodes"):
        await read_once(cluster, [(POD, ""), (CONFIG_MAP, ""), (NODE, "")])


async def test_where_lists_are_not_allowed_objects_are_read_by_name(cluster: MemoryCluster) -> None:
    cluster.fail("list", Forbidden(403, "Forbidden", "may not list"))
    snapshot = await read_once(cluster, [Query(CONFIG_MAP, "default", tuple("abcdefghij"))])
    assert snapshot.get(ref("a")) and snapshot.get(ref("j")) is None


async def test_in_part_what_may_not_be_read_is_noted_with_the_reason(cluster: MemoryCluster) -> None:
    cluster.fail(asks_for("pods"), Forbidden(403, "Forbidden", "may not list pods"))
    snapshot = await read_once(cluster, [(POD, "default"), (CONFIG_MAP, "default")], partial=True)
    assert snapshot.get(ref("a"))
    with pytest.raises(NotSynced, match="may not list pods"):
        snapshot.get(Ref("", "Pod", "default", "a"))


@pytest.mark.parametrize("error", [Unreachable("no route"), Unauthorized(401, "Unauthorized", "who is that?")])
async def test_in_part_or_not_a_server_that_answers_nobody_is_an_error(cluster: MemoryCluster, error: ClusterError) -> None:
    cluster.fail(asks_for("pods"), error)
    with pytest.raises(type(error)):
        await read_once(cluster, [(POD, "default"), (CONFIG_MAP, "default")], partial=True)


async def test_a_snapshot_gives_the_objects_of_a_kind(cluster: MemoryCluster) -> None:
    snapshot = await read_once(cluster, [(CONFIG_MAP, ""), (NODE, "")])
    assert [one["metadata"]["name"] for one in snapshot.of("", "ConfigMap", "kube-system")] == ["c"]


def test_objects_are_asked_for_by_kind_and_namespace_and_each_once() -> None:
    objects = [(CONFIG_MAP, ref("a")), (CONFIG_MAP, ref("b", "shop")), (CONFIG_MAP, ref("c")), (CONFIG_MAP, ref("a"))]
    assert by_place(objects) == [Query(CONFIG_MAP, "default", ("a", "c")), Query(CONFIG_MAP, "shop", ("b",))]
