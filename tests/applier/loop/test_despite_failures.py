"""What serves nobody is deleted also where other objects cannot be written: they may wait for what it holds, as pods do for a quota."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from applier.desired import Deletion, Desired, Graph, ObjectReference, StatusWrite
from applier.errors import Forbidden
from applier.loop import View
from applier.ref import Manifest
from applier.testing.virtual_time import in_virtual_time

from .lab import config_map, lab, loops_running, ref, some

NAMES = ("set-done", "set-serving", "set-surplus", "set-followed")
FULL = Forbidden(403, "Forbidden", "exceeded quota")


def part(name: str) -> Manifest:
    """An object of an owner. That which others refuse has the owner of `set-followed`, whose place it takes."""
    owner = "left" if name in ("set-refused", "set-followed") else "right"
    return config_map(name, {}, ownerReferences=[{"apiVersion": "example.com/v1", "kind": "Part", "name": owner, "uid": owner}])


def members(view: View, _: str) -> list[Manifest]:
    return [one for name in NAMES if (one := view.get(ref(name))) is not None]


def wanted(view: View, _: str) -> Graph:
    """One object that the server refuses, and two to delete, of which one serves nobody. The surplus one is not desired.

    Nor is that whose place the refused one takes.
    """
    live = {name: view.get(ref(name)) for name in NAMES}
    deletions = [
        Deletion(ObjectReference.of(one), "Replacement", despite_failures=name == "set-done")
        for name in ("set-done", "set-serving")
        if (one := live[name]) is not None
    ]
    kept = [Desired(part(name)) for name in ("set-done", "set-serving") if live[name] is not None]
    primary = view.get(ref("set"))
    statuses = [StatusWrite(ObjectReference.of(primary), {"seen": True})] if primary else []
    return Graph([*kept, Desired(part("set-refused"))], deletions=deletions, statuses=statuses)


async def deleted(refused: str, surplus: Sequence[tuple[str, str]]) -> set[str]:
    """What is deleted where requests of such a name or subresource are refused."""
    world = lab(surplus=surplus)
    world.reconciler.members, world.desired = members, wanted
    world.cluster.seed(*map(part, NAMES))
    world.cluster.fail(lambda one: refused in (one.name, one.subresource), FULL, times=1000)
    async with loops_running(world):
        world.cluster.seed(some("set", 0))
        await asyncio.sleep(1)
        return {one.name for one in world.cluster.writes() if one.verb == "delete"}


@in_virtual_time
async def test_a_refused_object_holds_only_deletions_of_what_may_serve() -> None:
    assert await deleted("set-refused", [("", "ConfigMap")]) == {"set-done", "set-surplus"}


@in_virtual_time
async def test_a_refused_object_holds_those_of_other_kinds_that_are_no_longer_desired() -> None:
    assert await deleted("set-refused", []) == {"set-done"}


@in_virtual_time
async def test_nothing_is_deleted_whose_reason_could_not_be_reported() -> None:
    assert await deleted("status", [("", "ConfigMap")]) == set()
