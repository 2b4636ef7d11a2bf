"""A kind that the server begins to serve, or ceases to, is news for all keys: they may want such objects, or have asked for some."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from applier.cache import Query
from applier.cache.definitions import DefinitionWatch
from applier.cluster import Resource
from applier.desired import Desired, Graph
from applier.loop import View
from applier.ref import Kind, Manifest
from applier.testing.virtual_time import in_virtual_time

from .lab import Lab, lab, loops_running, some

WIDGET = Kind("example.com", "v1", "Widget")
SERVED = Resource(WIDGET, "widgets", True)
SOON = 5.0  # seconds, with those for which the loop lets things gather
DEFINITION: Manifest = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets"},
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}


def world_of(**options: Any) -> Lab:
    world = lab(kinds=[Query(WIDGET, optional=True)], **options)
    world.cluster.seed(some("set", 1))
    return world


def widget() -> Manifest:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "set-widget", "namespace": "default"}, "spec": {}}


@in_virtual_time
async def test_what_cannot_be_made_yet_is_made_when_its_kind_comes() -> None:
    world = world_of()
    world.desired = lambda view, key: Graph([Desired(widget())])
    async with loops_running(world):
        await asyncio.sleep(100)
        assert "does not serve Widget" in world.told()
        world.cluster.seed(DEFINITION)
        await asyncio.sleep(SOON)
        assert [ref.kind for ref in world.cluster.store.objects if ref.name == "set-widget"] == ["Widget"]


@in_virtual_time
async def test_who_has_asked_whether_a_kind_is_served_is_asked_again_when_it_comes_and_when_it_goes() -> None:
    world, seen = world_of(), list[bool]()

    def desired(view: View, key: str) -> Graph:
        seen.append(WIDGET not in view.unserved())
        return Graph([])

    world.desired = desired
    async with loops_running(world):
        world.cluster.seed(DEFINITION)
        await asyncio.sleep(SOON)
        world.cluster.kinds.forget(SERVED)
        world.cluster.end_watches()
        await asyncio.sleep(SOON)
    assert seen == [False, True, False]


@in_virtual_time
async def test_who_waits_for_a_kind_ends_when_it_is_cancelled_as_a_definition_comes() -> None:
    """Both at once: a cancellation that is lost there would let a loop that is ended wait for ever."""
    definitions = DefinitionWatch(lambda *_: _Silent())  # type: ignore[arg-type]
    waiting = asyncio.create_task(definitions.wait_for_change("example.com", 1000.0))
    await asyncio.sleep(0)
    definitions._notify("example.com")
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert waiting.cancelled()


@in_virtual_time
async def test_who_waits_for_a_kind_sleeps_for_as_long_as_definitions_are_watched() -> None:
    source = _Silent()
    waiting = await waiting_for_a_kind(source)
    await asyncio.sleep(1000.0)
    assert timers() == 1, "it wakes up although nobody has told it anything"
    waiting.cancel()


@in_virtual_time
async def test_who_waits_for_a_kind_looks_for_it_soon_after_their_watch_has_broken() -> None:
    source = _Silent()
    waiting = await waiting_for_a_kind(source)
    await asyncio.sleep(1000.0)
    source.breaks += 1
    source.when_broken()
    await asyncio.sleep(0.9)
    assert not waiting.done()
    await asyncio.sleep(0.2)
    assert await waiting is False


async def waiting_for_a_kind(source: _Silent) -> asyncio.Task[bool]:
    """Somebody who would look for a kind every second, if its definition could come unnoticed."""
    definitions = DefinitionWatch(lambda *_: source)  # type: ignore[arg-type]
    waiting = asyncio.create_task(definitions.wait_for_change("example.com", 1.0))
    await asyncio.sleep(0)
    return waiting


def timers() -> int:
    """How many timers have yet to come, one of which is that of the silent source."""
    return sum(not one.cancelled() for one in asyncio.get_running_loop()._scheduled)  # type: ignore[attr-defined]


class _Silent:
    """A source that has listed everything, and tells nothing from then on."""

    breaks, complete, error = 0, True, None
    when_broken: Callable[[], None]

    async def run(self) -> None:
        await asyncio.sleep(10_000.0)
