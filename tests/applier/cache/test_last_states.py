"""Of what is deleted the last state is kept where somebody asks for it: by owner, until the owner goes, and of no more than so many."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from applier.cache import Query, WatchCache
from applier.cache.frozen import FrozenCache
from applier.cache.versions import LabelledAs, LastStates
from applier.errors import NotSynced
from applier.ref import Manifest
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time

from .conftest import CONFIG_MAP, delete, ref, until

MARK = "example.com/mark"
KIND = ("", "ConfigMap")


def owned(name: str, value: str = "1", owner: str = "u", **labels: str) -> Manifest:
    owners = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner}]
    metadata = {"name": name, "namespace": "default", "labels": labels or {MARK: "yes"}, "ownerReferences": owners}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": value}}


@asynccontextmanager
async def watching(cluster: MemoryCluster) -> AsyncIterator[WatchCache]:
    cache = WatchCache(cluster, [Query(CONFIG_MAP, managed=False, keeps_deleted=MARK)])
    await cache.start()
    await cache.synced()
    try:
        yield cache
    finally:
        await cache.stop()


def kept(cache: WatchCache, owner: str = "u") -> list[tuple[str, str]]:
    return [(one["metadata"]["name"], one["data"]["k"]) for one in cache.deleted(owner, *KIND)]


@in_virtual_time
async def test_the_last_state_is_what_the_watch_has_shown_though_nobody_has_looked_in_between() -> None:
    cluster = MemoryCluster()
    cluster.seed(owned("a"), owned("b"))
    async with watching(cluster) as cache:
        cluster.seed(owned("b", "last"))
        await delete(cluster, "b")
        await delete(cluster, "a")
        await until(lambda: len(kept(cache)) == 2)
        assert kept(cache) == [("b", "last"), ("a", "1")]
        assert [one["metadata"].get("managedFields") for one in cache.deleted("u", *KIND)] == [None, None]


@in_virtual_time
async def test_what_has_no_such_label_is_not_kept() -> None:
    cluster = MemoryCluster()
    cluster.seed(owned("a", other="label"), owned("b"))
    async with watching(cluster) as cache:
        await delete(cluster, "a")
        await delete(cluster, "b")
        await until(lambda: bool(kept(cache)))
        assert kept(cache) == [("b", "1")]


@pytest.mark.parametrize("first", ["the owner", "what it owns"])
def test_with_the_owner_all_is_forgotten(first: str) -> None:
    @in_virtual_time
    async def left() -> list[tuple[str, str]]:
        cluster = MemoryCluster()
        cluster.seed(owned("owner", other="label"))
        uid = cluster.store.objects[ref("owner")]["metadata"]["uid"]
        cluster.seed(owned("a", owner=uid), owned("b"))
        async with watching(cluster) as cache:
            for name in ("owner",) if first == "the owner" else ("a", "owner"):  # what it owned is collected
                await delete(cluster, name)
            await delete(cluster, "b")
            await until(lambda: bool(kept(cache)))
            return kept(cache, uid)

    assert left() == []


@in_virtual_time
async def test_what_goes_in_a_gap_of_the_watch_is_kept_as_it_was_known() -> None:
    cluster = MemoryCluster()
    cluster.seed(owned("a"))
    async with watching(cluster) as cache:
        cluster.end_watches()
        cluster.seed(owned("a", "never shown"))
        await delete(cluster, "a")
        cluster.store.forget()
        await until(lambda: bool(kept(cache)))
        assert kept(cache) == [("a", "1")]


@in_virtual_time
async def test_nothing_is_said_of_a_kind_that_is_not_known() -> None:
    cache = WatchCache(MemoryCluster(), [Query(CONFIG_MAP, keeps_deleted=MARK)])
    await cache.start()
    with pytest.raises(NotSynced):
        cache.deleted("u", *KIND)
    await cache.stop()
    await asyncio.sleep(0)


def test_the_oldest_are_dropped_where_there_are_too_many() -> None:
    states = LastStates(lambda _: False, most=2)
    states.keep_of(KIND, MARK)
    for name in "abc":
        manifest = owned(name)
        manifest["metadata"]["uid"] = name
        states.note(KIND, manifest)
    assert [one["metadata"]["name"] for one in states.of("u", KIND)] == ["b", "c"]


def states_of(*manifests: Manifest, gone: str = "", most: int = 9) -> LastStates:
    states = LastStates(gone.__eq__, most=most)
    states.keep_of(KIND, MARK)
    for one in manifests:
        states.note(KIND, one)
    return states


def test_names_are_known_by_label_also_of_what_the_owner_has_taken_with_it() -> None:
    other = owned("d")
    other["metadata"]["namespace"] = "other"
    states = states_of(owned("b", owner="gone"), owned("a"), owned("c", **{MARK: "no"}), other, gone="gone")
    assert states.names(LabelledAs(KIND, "default", "yes")) == ["b", "a"]
    assert [one["metadata"]["name"] for one in states.of("gone", KIND)] == []


def test_of_names_too_the_oldest_are_dropped_where_there_are_too_many() -> None:
    states = states_of(owned("a"), owned("b"), owned("a"), owned("c", **{MARK: "no"}), most=2)
    assert states.names(LabelledAs(KIND, "default", "yes")) == ["a"]
    assert states.names(LabelledAs(KIND, "default", "no")) == ["c"]


def test_the_name_of_what_we_have_deleted_is_known_before_the_watch_tells_of_it() -> None:
    @in_virtual_time
    async def known() -> list[str]:
        cluster = MemoryCluster()
        cluster.seed(owned("a"), owned("b", other="label"))
        async with watching(cluster) as cache:
            for name in "ab":
                cache.put_deleted(ref(name), cache.known_uid(ref(name)))
            return cache.deleted_names(*KIND, "yes", "default")

    assert known() == ["a"]


def test_a_frozen_cache_knows_no_fewer_names() -> None:
    @in_virtual_time
    async def known() -> list[str]:
        cluster = MemoryCluster()
        cluster.seed(owned("a"), owned("b"))
        async with watching(cluster) as cache:
            await delete(cluster, "a")
            await until(lambda: bool(kept(cache)))
            frozen = FrozenCache(cache)
            try:
                return frozen.deleted_names(*KIND, "yes", "default")
            finally:
                frozen.release()

    assert known() == ["a"]
