"""A cache follows what happens on the server, through ends, breaks and gaps of its streams."""

from __future__ import annotations

import asyncio

import pytest

from applier.cache import Query, WatchCache
from applier.errors import Forbidden, NotSynced, TooManyRequests, UnknownKind, Unreachable
from applier.ref import Kind, Manifest, Ref
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time

from .conftest import CONFIG_MAP, NODE, POD, config_map, delete, names, ref, until, watching


@in_virtual_time
async def test_it_knows_what_was_there() -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map("a"), config_map("b"))
    async with watching(cluster) as cache:
        assert names(cache) == ["a", "b"]


@in_virtual_time
async def test_it_knows_that_there_is_no_such_object() -> None:
    async with watching(MemoryCluster()) as cache:
        assert cache.get(ref("none")) is None


@in_virtual_time
async def test_it_does_not_say_that_there_is_none_of_what_it_does_not_watch() -> None:
    async with watching(MemoryCluster()) as cache:
        with pytest.raises(KeyError):
            cache.get(Ref("", "Pod", "default", "a"))


@in_virtual_time
async def test_it_does_not_say_that_there_is_none_before_it_knows() -> None:
    cache = WatchCache(MemoryCluster(), [(CONFIG_MAP, "")])
    await cache.start()
    with pytest.raises(KeyError):
        cache.get(ref())
    await cache.stop()


@in_virtual_time
async def test_it_follows_changes_and_deletions() -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map("a"), config_map("b"))
    async with watching(cluster) as cache:
        cluster.seed(config_map("a", "2"), config_map("c"))
        await delete(cluster, "b")
        await until(lambda: names(cache) == ["a", "c"])
        assert cache.get(ref("a"))["data"] == {"k": "2"}  # type: ignore[index]


@pytest.mark.parametrize("watch_list", [True, False])
def test_it_begins_with_a_watch_list_where_that_is_served(watch_list: bool) -> None:
    @in_virtual_time
    async def requests() -> set[str]:
        cluster = MemoryCluster(watch_list=watch_list)
        cluster.seed(config_map())
        async with watching(cluster) as cache:
            assert names(cache) == ["a"]
        return {request.verb for request in cluster.log}

    assert requests() == ({"watch"} if watch_list else {"watch", "list"})


@in_virtual_time
async def test_a_stream_that_ends_is_taken_up_where_it_was_without_a_list() -> None:
    cluster = MemoryCluster()
    async with watching(cluster, watch_list=False) as cache:
        for value in "123":
            cluster.end_watches()
            cluster.seed(config_map(value))
            await until(lambda value=value: value in names(cache))  # type: ignore[misc]
        assert cluster.requests["list", "configmaps"] == 1


@in_virtual_time
async def test_bookmarks_let_it_take_up_where_the_history_is() -> None:
    cluster = MemoryCluster(history=5)
    async with watching(cluster, watch_list=False) as cache:
        for number in range(20):
            cluster.seed({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}"}})
        cluster.bookmark()
        await asyncio.sleep(1)
        cluster.end_watches()
        cluster.seed(config_map("late"))
        await until(lambda: names(cache) == ["late"])
        assert cluster.requests["list", "configmaps"] == 1


@pytest.mark.parametrize("watch_list", [True, False])
def test_what_was_deleted_in_a_gap_of_the_history_is_noticed(watch_list: bool) -> None:
    @in_virtual_time
    async def known() -> list[str]:
        cluster = MemoryCluster()
        cluster.seed(config_map("a"), config_map("b"))
        async with watching(cluster, watch_list=watch_list) as cache:
            cluster.end_watches()
            await delete(cluster, "b")
            cluster.store.forget()
            await until(lambda: "b" not in names(cache))
            return names(cache)

    assert known() == ["a"]


@in_virtual_time
async def test_it_serves_what_it_knew_while_it_cannot_reach_the_server() -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map())
    async with watching(cluster) as cache:
        cluster.fail("watch", Unreachable("no route"), times=-1)
        cluster.end_watches(Unreachable("reset"))
        cluster.store.forget()
        await asyncio.sleep(300)
        assert names(cache) == ["a"]
        assert cache.staleness([("", "ConfigMap")])


@in_virtual_time
async def test_a_broken_stream_is_no_doubt_any_more_once_it_is_opened_again_though_nothing_happens() -> None:
    """Else nothing could be deleted for up to a minute: until the next bookmark of a kind to which nothing happens."""
    cluster = MemoryCluster()
    cluster.seed(config_map())
    async with watching(cluster, watch_list=False) as cache:
        cluster.fail("watch", Unreachable("no route"), times=2)
        cluster.end_watches(Unreachable("reset"))
        await until(lambda: bool(cache.staleness([("", "ConfigMap")])))
        await until(lambda: not cache.staleness([("", "ConfigMap")]), 10)


@in_virtual_time
async def test_a_silent_stream_is_left_for_a_new_one() -> None:
    cluster = MemoryCluster()
    async with watching(cluster, stall=60.0) as cache:
        cluster.stall_watches()
        cluster.seed(config_map())
        await until(lambda: names(cache) == ["a"], 70)


@in_virtual_time
async def test_bookmarks_keep_a_quiet_stream() -> None:
    cluster = MemoryCluster()
    async with watching(cluster, stall=60.0):
        for _ in range(20):
            await asyncio.sleep(50)
            cluster.bookmark()
        assert cluster.requests["watch", "configmaps"] == 1


@in_virtual_time
async def test_it_does_not_hammer_a_server_that_is_away() -> None:
    cluster = MemoryCluster()
    async with watching(cluster):
        cluster.fail("watch", Unreachable("no route"), times=-1)
        cluster.end_watches(Unreachable("reset"))
        await asyncio.sleep(600)
        assert 20 <= cluster.requests["watch", "configmaps"] <= 50


@in_virtual_time
async def test_streams_that_end_at_once_are_not_opened_at_once_for_ever() -> None:
    cluster = MemoryCluster()
    async with watching(cluster):
        for _ in range(60):
            cluster.end_watches()
            await asyncio.sleep(1)
        assert cluster.requests["watch", "configmaps"] < 20


@in_virtual_time
async def test_it_waits_as_long_as_the_server_asks() -> None:
    cluster = MemoryCluster()
    async with watching(cluster) as cache:
        cluster.fail("watch", TooManyRequests(429, "TooManyRequests", "slow down", retry_after=500.0))
        cluster.end_watches(Unreachable("reset"))
        cluster.seed(config_map())
        await asyncio.sleep(490)
        assert names(cache) == []
        await until(lambda: names(cache) == ["a"], 30)


@in_virtual_time
async def test_missing_permission_is_told_at_once_and_tried_again() -> None:
    cluster = MemoryCluster()
    cluster.fail("watch", Forbidden(403, "Forbidden", "may not watch configmaps"))
    cache = WatchCache(cluster, [(CONFIG_MAP, "")])
    await cache.start()
    with pytest.raises(Forbidden, match="may not watch"):
        await cache.synced()
    await until(lambda: cache.covers(ref()))
    await cache.stop()


ORDER, ONE = Kind("shop.example", "v1", "Order"), Ref("shop.example", "Order", "default", "one")


def define_orders(cluster: MemoryCluster) -> None:
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "orders.shop.example"}}
    spec = {"group": "shop.example", "names": {"kind": "Order", "plural": "orders"}, "versions": [{"name": "v1"}]}
    cluster.seed({**definition, "spec": spec})
    cluster.seed({"apiVersion": "shop.example/v1", "kind": "Order", "metadata": {"name": "one", "namespace": "default"}})


@in_virtual_time
async def test_of_a_kind_that_is_not_served_nothing_is_known_until_it_is() -> None:
    cluster = MemoryCluster()
    async with watching(cluster, ORDER) as cache:
        assert cache.unserved() == {ORDER}
        for question in (lambda: cache.get(ONE), lambda: cache.by_label(*ONE[:2]), lambda: cache.by_owner("u")):
            with pytest.raises(NotSynced, match=r"Order\.shop\.example is not served"):
                question()
        define_orders(cluster)
        await until(lambda: not cache.unserved())
        assert cache.get(ONE) and not cache.staleness([ONE[:2]])


@in_virtual_time
async def test_an_optional_kind_that_is_not_served_is_known_to_have_no_objects() -> None:
    cluster = MemoryCluster()
    cache = WatchCache(cluster, [Query(ORDER, optional=True)])
    await cache.start()
    await cache.synced()
    assert (cache.get(ONE), cache.by_label(*ONE[:2]), cache.staleness([ONE[:2]])) == (None, [], [])
    define_orders(cluster)
    await until(lambda: cache.get(ONE))
    await cache.stop()


@in_virtual_time
async def test_kinds_can_be_added_later() -> None:
    cluster = MemoryCluster()
    cluster.seed({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    async with watching(cluster) as cache:
        cache.add(Query(NODE))
        await cache.synced()
        assert cache.get(Ref("", "Node", "", "n"))


@in_virtual_time
async def test_a_watch_of_all_namespaces_takes_over_from_that_of_one_without_a_gap() -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map(), config_map("b", namespace="kube-system"))
    cache = WatchCache(cluster, [(CONFIG_MAP, "default")])
    await cache.start()
    await cache.synced()
    cache.add(Query(CONFIG_MAP))
    assert cache.get(ref())
    await cache.synced()
    await asyncio.sleep(1)
    assert (names(cache), len(cache.sources()), len(cluster.store.watchers)) == (["a", "b"], 1, 1)
    await cache.stop()


@in_virtual_time
async def test_subscribers_see_the_old_and_the_new_state() -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map())
    seen: list[tuple[str, object, object]] = []

    def listen(ref: Ref, old: Manifest | None, new: Manifest | None) -> None:
        seen.append((ref.name, old and old["data"]["k"], new and new["data"]["k"]))

    async with watching(cluster) as cache:
        cache.subscribe(listen)
        cluster.seed(config_map("a", "2"), config_map("b"))
        await delete(cluster)
        await until(lambda: names(cache) == ["b"])
    assert seen == [("a", "1", "2"), ("b", None, "1"), ("a", "2", None)]


@in_virtual_time
async def test_subscribers_are_told_what_a_gap_hid() -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map("a"), config_map("b"), config_map("c"))
    seen: list[str] = []
    async with watching(cluster) as cache:
        cache.subscribe(lambda ref, old, new: seen.append(ref.name))
        cluster.end_watches()
        await delete(cluster, "a")
        cluster.seed(config_map("b", "2"))
        cluster.store.forget()
        await until(lambda: names(cache) == ["b", "c"])
    assert sorted(seen) == ["a", "b"]


@in_virtual_time
async def test_a_subscription_can_end() -> None:
    cluster = MemoryCluster()
    seen: list[str] = []
    async with watching(cluster) as cache:
        cache.subscribe(lambda ref, old, new: seen.append(ref.name))()
        cluster.seed(config_map())
        await until(lambda: names(cache))
    assert seen == []


@in_virtual_time
async def test_objects_are_found_by_owner() -> None:
    cluster = MemoryCluster()
    owners = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u"}]
    cluster.seed(config_map("a", ownerReferences=owners), config_map("b"))
    async with watching(cluster) as cache:
        assert [one["metadata"]["name"] for one in cache.by_owner("u")] == ["a"]
        cluster.seed(config_map("a", "2"))
        await until(lambda: not cache.by_owner("u"))


@pytest.mark.parametrize(
    ("selector", "found"), [("app=x", ["a"]), ("app", ["a", "b"]), ("app in (x,y),!old", ["a"]), ("", ["a", "b", "c"])]
)
def test_objects_are_found_by_label(selector: str, found: list[str]) -> None:
    @in_virtual_time
    async def by_label() -> list[str]:
        cluster = MemoryCluster()
        cluster.seed(config_map("a", labels={"app": "x"}), config_map("b", labels={"app": "y", "old": ""}), config_map("c"))
        async with watching(cluster) as cache:
            return [one["metadata"]["name"] for one in cache.by_label("", "ConfigMap", selector)]

    assert by_label() == found


@in_virtual_time
async def test_the_index_follows_the_labels() -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map(labels={"app": "x"}))
    async with watching(cluster) as cache:
        assert cache.by_label("", "ConfigMap", "app=x")
        cluster.seed(config_map(labels={"app": "y"}))
        await until(lambda: cache.by_label("", "ConfigMap", "app=y"))
        assert not cache.by_label("", "ConfigMap", "app=x")


@in_virtual_time
async def test_values_of_secrets_are_not_kept() -> None:
    cluster = MemoryCluster()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}, "data": {"password": "aHVudGVyMg=="}}
    cluster.seed(secret)
    async with watching(cluster, Kind("", "v1", "Secret")) as cache:
        assert "aHVudGVyMg==" not in str(cache.by_label("", "Secret"))


@pytest.mark.parametrize("managed", [True, False])
def test_managed_fields_are_kept_where_they_are_asked_for(managed: bool) -> None:
    @in_virtual_time
    async def kept() -> bool:
        cluster = MemoryCluster()
        cluster.seed(config_map(), manager="them")
        cache = WatchCache(cluster, [Query(CONFIG_MAP, managed=managed)])
        await cache.start()
        await cache.synced()
        await cache.stop()
        return "managedFields" in cache.get(ref())["metadata"]  # type: ignore[index]

    assert kept() is managed


@in_virtual_time
async def test_reading_makes_no_request() -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map())
    async with watching(cluster, CONFIG_MAP, POD) as cache:
        cluster.forget_requests()
        cache.get(ref()), cache.by_owner("u"), cache.by_label("", "ConfigMap")
        await asyncio.sleep(60)
        assert not cluster.log


@in_virtual_time
async def test_nothing_is_left_running_after_a_stop() -> None:
    cluster = MemoryCluster()
    before = len(asyncio.all_tasks())
    async with watching(cluster, CONFIG_MAP, POD, NODE):
        pass
    assert (len(asyncio.all_tasks()), len(cluster.store.watchers)) == (before, 0)


@in_virtual_time
async def test_what_is_not_found_because_something_in_between_finds_nothing_is_not_gone() -> None:
    cluster = MemoryCluster()
    define_orders(cluster)
    cache = WatchCache(cluster, [Query(ORDER, optional=True)])
    await cache.start()
    await cache.synced()
    assert cache.get(ONE)
    for verb in ("list", "watch"):
        cluster.fail(verb, UnknownKind("404 page not found"), times=2)
    cluster.end_watches(UnknownKind("404 page not found"))
    await until(lambda: bool(cache.staleness([ONE[:2]])))
    assert cache.get(ONE) and not cache.unserved()
    assert "the server serves" in cache.staleness([ONE[:2]])[0]
    await asyncio.sleep(30)
    assert cache.get(ONE) and not cache.staleness([ONE[:2]])
    await cache.stop()
