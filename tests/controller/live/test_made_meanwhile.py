"""What somebody else makes at the last moment, between our look and our write, is theirs; and each object of ours takes one request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Unpack

import pytest

from applier.cluster import ApplyPatchOptions, Cluster, Resource, WrappedCluster, WriteOptions
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane

from .conftest import opened
from .ownership import DRIVERS, KINDS, KINDS_OF_OTHERS, SHAPE, Row, content, declared, holders, kinds_of_others, live, looked_at, row, uids
from .world import AGENT, LiveCluster

pytestmark = pytest.mark.cluster


class Quicker(WrappedCluster):
    """A cluster in which somebody makes objects of these rows right before our first request for an object of their names."""

    def __init__(self, cluster: Cluster, plane: ControlPlane, namespace: str, rows: Iterable[Row]) -> None:
        super().__init__(cluster)
        self._plane, self._namespace = plane, namespace
        self.due = {(one.foreign["kind"], one.foreign["metadata"]["name"], one.foreign["apiVersion"]): one.foreign for one in rows}
        self.made: list[Manifest] = []
        """As the server has answered."""

    async def _make_first(self, manifest: Manifest) -> None:
        foreign = self.due.pop((manifest["kind"], manifest["metadata"].get("name"), manifest["apiVersion"]), None)
        if foreign is not None:
            path = (await self.cluster.resource(Kind.of(foreign))).path(self._namespace)
            self.made.append(await asyncio.to_thread(self._plane.request, "POST", f"{path}?fieldManager=somebody", foreign))

    async def apply(self, resource: Resource, manifest: Manifest, **options: Unpack[ApplyPatchOptions]) -> Manifest:
        if not options.get("subresource"):
            await self._make_first(manifest)
        return await super().apply(resource, manifest, **options)

    async def create(self, resource: Resource, manifest: Manifest, **options: Unpack[WriteOptions]) -> Manifest:
        await self._make_first(manifest)
        return await super().create(resource, manifest, **options)


async def missing(world: LiveCluster, held: set[str]) -> set[str]:
    """Which of these sets do not say what holds them."""
    return held - {name for name, is_held in (await holders(world)).items() if is_held}


async def stay_as_they_were_made(world: LiveCluster, rows: list[Row], **operator: Any) -> None:
    """Lets somebody make an object of each row right before an operator does."""
    world.operators = quicker = Quicker(world.operators, world.plane, world.namespace, rows)
    await world.start(**operator)
    for one in rows:
        await world.apply(one.set)
    held = {one.set["metadata"]["name"] for one in rows if one.foreign["kind"] != "Pod"}  # of a pod another one is made, by another name
    await world.until(lambda: missing(world, held), set())
    await looked_at(world, rows, replicas=1)
    assert quicker.due == {}
    assert [await live(world, one) for one in quicker.made] == [content(one) for one in quicker.made]


async def test_what_somebody_makes_right_before_us_stays_as_it_was_made(grove_plane: ControlPlane, namespace: str) -> None:
    async with opened(grove_plane, namespace) as world:
        await stay_as_they_were_made(world, [row(kind) for kind in (*KINDS, "Pod")])


async def test_so_does_what_is_of_a_kind_of_schedulers_and_drivers(whole_cluster: LiveCluster) -> None:
    async with kinds_of_others(whole_cluster):
        rows = [row(kind) for kind in KINDS_OF_OTHERS]
        await stay_as_they_were_made(whole_cluster, rows, everywhere=True, config=DRIVERS, mnnvl_shape=SHAPE)


async def test_each_object_that_a_set_makes_takes_one_request_and_no_look(world: LiveCluster) -> None:
    mark = await asyncio.to_thread(world.plane.mark)
    await world.apply(declared("each"))
    await world.until(world.hostnames, ["each-0-front-0", "each-0-model-0-work-0"])
    await world.at_rest()
    asked = (await asyncio.to_thread(world.plane.requests, mark)).only(agent=AGENT, namespace=world.namespace)
    objects = [one for one in asked if not one.subresource and one.resource not in ("events", "podcliquesets.grove.io")]
    assert [one for one in objects if one.verb == "get"] == []
    assert len([one for one in objects if one.code == 201]) == len(await uids(world))
