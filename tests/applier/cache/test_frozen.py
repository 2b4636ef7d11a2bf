"""A cache that is frozen answers as it would have, whatever changes meanwhile, also to another thread."""

from __future__ import annotations

import asyncio
import threading
from random import Random
from typing import Any

import pytest

from applier.cache import FrozenCache, Query, WatchCache
from applier.errors import NotSynced
from applier.ref import Manifest, Ref
from applier.testing.memory import MemoryCluster
from applier.testing.virtual_time import in_virtual_time

from .conftest import CONFIG_MAP, POD, config_map, ref, watching

NAMES, OWNERS, VALUES = "abcdef", ["o1", "o2", "o3"], ["x", "y"]
KIND = ("", "ConfigMap")


def drawn(chance: Random, name: str, version: int) -> Manifest:
    """An object with some owner and label; of each name there are several one after the other."""
    uid = f"{name}{chance.randrange(3)}"
    owners = [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": chance.choice(OWNERS)}]
    metadata = {"uid": uid, "resourceVersion": str(version), "labels": {"l": chance.choice(VALUES)}, "ownerReferences": owners}
    made = config_map(name)
    return {**made, "metadata": {**made["metadata"], **metadata}}


def answers(cache: WatchCache | FrozenCache) -> list[Any]:
    """All that can be asked of it."""
    return [
        *(cache.get(ref(name)) for name in NAMES),
        *(cache.by_owner(uid, kinds) for uid in OWNERS for kinds in ((), [KIND], [("", "Pod")])),
        *(cache.by_label(*KIND, selector, namespace) for selector in ("", "l=x", "l!=x") for namespace in ("", "default", "other")),
        cache.unserved(),
    ]


class Changing:
    """Changes a cache at random, as its watch would."""

    def __init__(self, cache: WatchCache, number: int) -> None:
        self.cache, self.chance, self.version = cache, Random(number), 1_000

    def change(self, times: int) -> None:
        for _ in range(times):
            self.version += 1
            name = self.chance.choice(NAMES)
            known = self.cache.get(ref(name))
            if known is not None and self.chance.random() < 0.4:
                self.cache._objects.observe_deletion(known, str(self.version))
            else:
                self.cache._objects.observe(drawn(self.chance, name, self.version))


@pytest.mark.parametrize("number", range(20))
def test_it_answers_as_before_whatever_changes(number: int) -> None:
    @in_virtual_time
    async def play() -> None:
        async with watching(MemoryCluster(), CONFIG_MAP, POD) as cache:
            world = Changing(cache, number)
            world.change(20)
            before = answers(cache)
            frozen = FrozenCache(cache)
            for _ in range(10):
                world.change(3)
                assert answers(frozen) == before
            assert answers(cache) != before
            frozen.release()

    play()


@in_virtual_time
async def test_it_tells_what_has_changed_and_notes_nothing_after_its_end() -> None:
    cluster = MemoryCluster()
    cluster.seed(config_map("a"), config_map("b"))
    async with watching(cluster) as cache:
        old = cache.get(ref("a"))
        frozen = FrozenCache(cache)
        cluster.seed(config_map("a", "2"), config_map("c"))
        await asyncio.sleep(1)
        cluster.seed(config_map("a", "3"))
        await asyncio.sleep(1)
        assert frozen.release() == {ref("a"): old, ref("c"): None}
        cluster.seed(config_map("b", "2"))
        await asyncio.sleep(1)
        assert frozen.release().keys() == {ref("a"), ref("c")}


@in_virtual_time
async def test_what_existed_is_not_among_the_last_states_of_what_was_deleted() -> None:
    cluster = MemoryCluster()
    async with watching(cluster, queries=[Query(CONFIG_MAP, keeps_deleted="l")]) as cache:
        first, second = (drawn(Random(1), name, 10) for name in "ab")
        owner = first["metadata"]["ownerReferences"][0]["uid"]
        second["metadata"]["ownerReferences"] = first["metadata"]["ownerReferences"]
        for one in (first, second):
            cache._objects.observe(one)
        cache._objects.observe_deletion(first, "11")
        frozen = FrozenCache(cache)
        cache._objects.observe_deletion(second, "12")
        assert cache.deleted(owner, *KIND) == [first, second]
        assert frozen.deleted(owner, *KIND) == [first]


@in_virtual_time
async def test_what_is_not_watched_is_not_known() -> None:
    async with watching(MemoryCluster()) as cache:
        with pytest.raises(NotSynced):
            FrozenCache(cache).get(Ref("", "Pod", "default", "a"))


@in_virtual_time
async def test_a_thread_reads_one_state_while_another_changes_it() -> None:
    async with watching(MemoryCluster(), CONFIG_MAP, POD) as cache:
        world = Changing(cache, 7)
        world.change(20)
        before, wrong, ended = answers(cache), list[Any](), threading.Event()
        frozen = FrozenCache(cache)

        def read() -> None:
            for _ in range(300):
                if (found := answers(frozen)) != before:
                    wrong.append(found)
            ended.set()

        thread = threading.Thread(target=read)
        thread.start()
        while not ended.is_set():
            world.change(10)
        thread.join()
        assert wrong == []
