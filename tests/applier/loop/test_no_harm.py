"""Whatever goes wrong, nothing is deleted: of a cluster full of members each stays, the reason is told, and other keys go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest

from applier.cache import Query
from applier.desired import Gone, Graph, Hold
from applier.errors import ClusterError, Expired, Forbidden, Invalid, ServerFailure, Unreachable
from applier.loop import View
from applier.ref import Kind, Manifest, Ref
from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import in_virtual_time
from tests.suite.rows import rows

from .lab import Lab, config_map, desired, lab, loops_running, ref, some

POD, ORDER = Kind("", "v1", "Pod"), Kind("shop.example", "v1", "Order")
MEMBERS = [f"set-{number}" for number in range(5)]


def raises(view: View, key: str) -> Graph | Gone | Hold:
    """A bug in the function, for one key of two."""
    if key == "set":
        raise ZeroDivisionError("division by zero")
    return desired(view, key)


def holds(view: View, key: str) -> Graph | Gone | Hold:
    """Bad input, which the function has noticed."""
    return Hold("spec.replicas: must not be negative") if key == "set" else desired(view, key)


def keeps(view: View, key: str) -> Graph | Gone | Hold:
    """Bad input in part, with which the function wants less than all."""
    wanted = desired(view, key)
    if key == "set" and isinstance(wanted, Graph):
        wanted.keep = "spec.order: must not change"
    return wanted


def gives_nothing(view: View, key: str) -> Any:
    """What used to mean that the key is no more."""
    return None if key == "set" else desired(view, key)


def asks_for_pods(view: View, key: str) -> Graph | Gone | Hold:
    """A function for which a set is gone when it has no primary pod: there is none, if the cache can be believed."""
    if key == "set" and not view.by_label("", "Pod", "app=primary"):
        return Gone()
    return desired(view, key)


def members(view: View, key: str) -> Iterable[Manifest]:
    """All that is named as members are, whether or not their set is there: what a careless prune would delete."""
    return [one for one in view.by_label("", "ConfigMap", "", "default") if one["metadata"]["name"].startswith(f"{key}-")]


def members_and_pods(view: View, key: str) -> Iterable[Manifest]:
    return [*members(view, key), *view.by_label("", "Pod", f"app={key}")]


def broken_members(view: View, key: str) -> Iterable[Manifest]:
    if key == "set":
        raise LookupError("no uid")
    return members(view, key)


def of(*plurals: str) -> Callable[[MemoryRequest], bool]:
    return lambda request: request.resource.plural in plurals and not request.writes


def break_off(world: Lab, error: ClusterError) -> None:
    """The watch of pods breaks, its history is forgotten, and nobody can list them again."""
    world.cluster.fail(of("pods"), error, times=-1)
    world.cluster.end_watches(Expired(410, "Expired", "too old"))


def stall(world: Lab) -> None:
    """All streams fall silent; those of ConfigMaps can be opened again."""
    world.cluster.stall_watches()
    world.cluster.fail(of("pods"), Unreachable("no route"), times=-1)


def refuse(world: Lab) -> None:
    """One of the objects cannot be written."""
    world.cluster.fail(lambda request: request.verb == "apply" and request.name == "set-0", Invalid(422, "Invalid", "no"), times=-1)


class Case(NamedTuple):
    """`broken` happens to a world that is well; then the set is scaled from five to one. `reason` is what is told."""

    reason: str
    function: Callable[[View, str], Any] = desired
    members: Callable[[View, str], Iterable[Manifest]] = members
    broken: Callable[[Lab], object] = lambda world: None
    kinds: tuple[Query, ...] = ()


PODS = (Query(POD),)
CASES = {
    "an exception in the function": Case("ZeroDivisionError: division by zero", raises),
    "a hold": Case("spec.replicas: must not be negative", holds),
    "a graph that is not all": Case("spec.order: must not change", keeps),
    "a function that gives nothing": Case("a graph, Gone() or Hold(reason) is wanted of a function, and not None", gives_nothing),
    "an unserved kind": Case("Order.shop.example is not served", kinds=(Query(ORDER),), members=lambda view, key: view.by_owner("u")),
    "a kind that is not watched": Case("Pod is not watched", members=members_and_pods),
    "a function that asks a kind that is not watched": Case("Pod is not watched", asks_for_pods),
    "a list that is forbidden": Case(
        "Pod cannot be followed: pods is forbidden",
        members=members_and_pods,
        kinds=PODS,
        broken=lambda world: break_off(world, Forbidden(403, "Forbidden", "pods is forbidden")),
    ),
    "a list that fails": Case(
        "Pod cannot be followed: etcd is away",
        members=members_and_pods,
        kinds=PODS,
        broken=lambda world: break_off(world, ServerFailure(500, "InternalError", "etcd is away")),
    ),
    "a key that is gone in the eyes of a broken watch": Case(
        "it is unknown whether it is deleted: Pod cannot be followed: etcd is away",
        asks_for_pods,
        kinds=PODS,
        broken=lambda world: break_off(world, ServerFailure(500, "InternalError", "etcd is away")),
    ),
    "a watch that has fallen silent": Case("Pod cannot be followed: no route", members=members_and_pods, kinds=PODS, broken=stall),
    "a failed write in the same graph": Case("for ConfigMap/default/set-0 is failed: no", broken=refuse),
    "a bug in what finds the members": Case("LookupError: no uid", members=broken_members),
}


def world_of(case: Case) -> Lab:
    world = lab(kinds=case.kinds)
    world.cluster.seed(some("set", 5), some("set2", 2))
    world.cluster.seed({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "namespace": "default", "labels": {"app": "set"}}})
    return world


def deletes(world: Lab) -> list[Ref]:
    return [request.ref for request in world.cluster.writes() if request.verb == "delete"]


@rows("case", CASES.values(), ids=CASES)
def test_nothing_is_deleted_the_reason_is_told_and_the_other_key_goes_on(case: Case) -> None:
    @in_virtual_time
    async def live_through() -> None:
        world = world_of(case)
        async with loops_running(world):
            case.broken(world)
            await asyncio.sleep(200)
            world.reconciler.members, world.desired = case.members, case.function
            world.cluster.seed(some("set", 1, "2"), some("set2", 3))
            await asyncio.sleep(200)
            assert set(MEMBERS) <= set(world.made())
            assert deletes(world) == []
            assert case.reason in world.told()
            assert "set2-2" in world.made() or "set2" in [result.key for result in world.results if result.error]

    live_through()


@in_virtual_time
async def test_what_was_held_is_deleted_once_all_is_known_again() -> None:
    world = world_of(CASES["a list that fails"])
    async with loops_running(world):
        break_off(world, ServerFailure(500, "InternalError", "etcd is away"))
        world.reconciler.members = members_and_pods
        world.cluster.seed(some("set", 1))
        await asyncio.sleep(60)
        assert deletes(world) == []
        world.cluster.faults.clear()
        await asyncio.sleep(60)
        assert sorted(one.name for one in deletes(world)) == ["one", *MEMBERS[1:]]


@in_virtual_time
async def test_a_gone_key_is_believed_and_its_members_deleted() -> None:
    world = world_of(Case(""))
    async with loops_running(world):
        world.reconciler.members = members
        world.cluster.store.remove(ref("set"))
        await asyncio.sleep(5)
        assert sorted(one.name for one in deletes(world)) == MEMBERS


@pytest.mark.parametrize("error", [Forbidden(403, "Forbidden", "no pods for you"), ServerFailure(500, "InternalError", "etcd is away")])
def test_a_loop_whose_first_list_fails_writes_nothing(error: ClusterError) -> None:
    @in_virtual_time
    async def live_through() -> None:
        world = world_of(CASES["a list that fails"])
        world.cluster.seed(*(config_map(name, {}) for name in MEMBERS))
        world.reconciler.members = members_and_pods
        world.cluster.fail(of("pods"), error, times=-1)
        async with loops_running(world):
            await asyncio.sleep(100)
            assert world.cluster.writes() == []

    live_through()


@in_virtual_time
async def test_whoever_loses_the_lease_between_look_and_deletion_deletes_nothing() -> None:
    world = lab(lease="a")
    world.cluster.seed(some("set", 5))
    async with loops_running(world):
        await asyncio.sleep(70)  # in which it hears of everything since it leads
        world.cluster.forget_requests()

        def overtaken(view: View, key: str) -> Graph | Gone | Hold:
            assert world.lease
            world.lease.fence.close()
            return desired(view, key)

        world.desired = overtaken
        world.cluster.seed(some("set", 1))
        await asyncio.sleep(1)
        assert deletes(world) == []
        assert "the lease is lost" in world.told()
