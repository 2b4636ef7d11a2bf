"""How soon we look again at somebody else's object by the name of one of ours: at once where a watch shows its end, else within seconds."""

from __future__ import annotations

import asyncio

from applier.cache import Query
from applier.desired import Desired, Graph, Policy
from applier.ref import Kind, Manifest, Ref, uid_of
from applier.testing.virtual_time import in_virtual_time

from .lab import Lab, lab, loops_running, some

SECRET = Kind("", "v1", "Secret")
HOUR = 3600.0


def secret(**labels: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "ours", "namespace": "default", "labels": labels}}


def who_wants_a_name_of_somebody_else(theirs: Manifest) -> Lab:
    """Watches Secrets with our label only, and wants one that somebody else has made."""
    world = lab(kinds=[Query(SECRET, labels="ours")])
    world.desired = lambda view, key: Graph([Desired(secret(ours="yes"), policy=Policy(adopt=False))])
    world.cluster.seed(theirs, manager="helm")
    world.cluster.seed(some("set", 0))
    return world


async def delete(world: Lab) -> str:
    """Somebody deletes the Secret; its UID."""
    uid = uid_of(world.cluster.store.objects[Ref.of(secret())])
    await world.cluster.delete(world.cluster.kinds.get(SECRET), "default", "ours", uid=uid)
    return uid


@in_virtual_time
async def test_one_that_the_watch_shows_is_looked_at_less_and_less_often_and_replaced_at_once() -> None:
    world = who_wants_a_name_of_somebody_else(secret(ours="yes"))
    async with loops_running(world):
        await asyncio.sleep(HOUR)
        assert "created by helm" in world.told()
        assert len(world.calls) < HOUR / 60
        uid = await delete(world)
        await asyncio.sleep(0.001)
        assert uid_of(world.cluster.store.objects[Ref.of(secret())]) != uid


@in_virtual_time
async def test_one_that_no_watch_shows_is_looked_at_every_few_seconds() -> None:
    world = who_wants_a_name_of_somebody_else(secret())
    async with loops_running(world):
        await asyncio.sleep(HOUR)
        assert "created by helm" in world.told()
        assert len(world.calls) > HOUR / 6
        uid = await delete(world)
        await asyncio.sleep(6)
        assert uid_of(world.cluster.store.objects[Ref.of(secret())]) != uid
