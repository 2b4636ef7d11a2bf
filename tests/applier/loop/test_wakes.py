"""Which changes wake a key: those of what its function asked for, and no others."""

from __future__ import annotations

import asyncio

import pytest

from applier.cache import Query
from applier.desired import Desired, Graph
from applier.loop import View
from applier.ref import Kind
from applier.testing.virtual_time import in_virtual_time

from .lab import config_map, lab, loops_running, ref, some


@in_virtual_time
async def test_a_change_of_what_the_function_read_wakes_it() -> None:
    world = lab()
    world.desired = lambda view, key: Graph(
        [Desired(config_map("set-copy", dict((view.get(ref("other")) or {"data": {}})["data"]))) for _ in "1"]
    )
    world.cluster.seed(some("set", 0))
    async with loops_running(world):
        world.cluster.seed(config_map("other", {"a": "b"}))
        await asyncio.sleep(1)
        assert world.cluster.store.objects[ref("set-copy")]["data"] == {"a": "b"}


@in_virtual_time
async def test_a_new_object_with_the_labels_that_the_function_asked_for_wakes_it() -> None:
    world = lab()

    def count(view: View, key: str) -> Graph:
        found = view.by_label("", "ConfigMap", "count=me", "default")
        return Graph([Desired(config_map("set-count", {"count": str(len(found))}))])

    world.desired = count
    world.cluster.seed(some("set", 0))
    async with loops_running(world):
        world.cluster.seed(config_map("one", {}, labels={"count": "me"}), config_map("two", {}, labels={"count": "not"}))
        await asyncio.sleep(1)
        assert world.cluster.store.objects[ref("set-count")]["data"] == {"count": "1"}


@in_virtual_time
async def test_who_asks_what_has_changed_is_told_once_and_woken_by_what_changes_next() -> None:
    world = lab()
    told: list[list[str] | None] = []
    mark: object = None

    def look(view: View, key: str) -> Graph:
        nonlocal mark
        found = view.changes("", "ConfigMap", "count", "me", "default", mark)
        mark = found.mark
        told.append(None if found.refs is None else [ref.name for ref in found.refs])
        return Graph([])

    world.desired = look
    world.cluster.seed(some("set", 0), config_map("zero", {}, labels={"count": "me"}))
    async with loops_running(world):
        world.cluster.seed(config_map("one", {}, labels={"count": "me"}), config_map("two", {}, labels={"count": "not"}))
        await asyncio.sleep(1)
    assert told == [None, ["one"]]


@in_virtual_time
async def test_objects_of_another_namespace_than_the_one_asked_for_wake_nobody() -> None:
    world = lab()

    def look(view: View, key: str) -> Graph:
        view.by_label("", "ConfigMap", "count=me", "default")
        return Graph([])

    world.desired = look
    world.cluster.seed(some("set", 0))
    async with loops_running(world):
        calls = len(world.calls)
        world.cluster.seed(config_map("one", {}, labels={"count": "me"}, namespace="kube-system"))
        await asyncio.sleep(1)
        assert len(world.calls) == calls


@in_virtual_time
@pytest.mark.parametrize(("asked", "wakes"), [("ConfigMap", True), ("Service", False)])
async def test_what_an_owner_has_wakes_who_asked_for_that_kind(asked: str, wakes: bool) -> None:
    world = lab(kinds=[Query(Kind("", "v1", "Service"))])

    def look(view: View, key: str) -> Graph:
        view.by_owner("u", [("", asked)])
        return Graph([])

    world.desired = look
    world.cluster.seed(some("set", 0))
    async with loops_running(world):
        calls = len(world.calls)
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "u"}
        world.cluster.seed(config_map("owned", {}, ownerReferences=[owner]))
        await asyncio.sleep(1)
        assert (len(world.calls) > calls) is wakes


@in_virtual_time
async def test_a_change_that_nobody_asked_about_wakes_nobody() -> None:
    world = lab()
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        calls = len(world.calls)
        world.cluster.seed(config_map("unrelated", {}))
        await asyncio.sleep(1)
        assert len(world.calls) == calls


@in_virtual_time
async def test_a_burst_of_changes_is_one_call() -> None:
    world = lab()
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        calls = len(world.calls)
        for value in range(50):
            world.cluster.seed(some("set", 1, str(value)))
        await asyncio.sleep(1)
        assert len(world.calls) - calls <= 4
        assert world.cluster.store.objects[ref("set-0")]["data"] == {"value": "49"}
