"""A loop makes the cluster what a function says, wakes when that may change, and does nothing otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from applier.desired import Desired, Graph, Hold
from applier.errors import ApiError, Forbidden, Invalid, ServerFailure, TooManyRequests, Unreachable
from applier.loop import View
from applier.outcome import Action
from applier.ref import Kind, Ref
from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import in_virtual_time

from ..free_schemas import FreeSchemas
from .lab import CONFIG_MAP, config_map, lab, loops_running, now, ref, some


@in_virtual_time
async def test_what_the_function_wants_is_made() -> None:
    world = lab()
    world.cluster.seed(some("set", 2), some("set2", 1))
    async with loops_running(world):
        assert world.made() == ["set-0", "set-1", "set2-0"]


@in_virtual_time
async def test_nothing_is_asked_of_the_server_when_all_is_as_it_should_be() -> None:
    world = lab()
    world.cluster.seed(some("set", 3))
    async with loops_running(world):
        world.cluster.forget_requests()
        calls = len(world.calls)
        for _ in range(10):
            world.loop.enqueue("set")
            await asyncio.sleep(1)
        assert (len(world.calls) - calls, world.cluster.log) == (10, [])


@in_virtual_time
async def test_a_change_of_the_primary_object_is_followed() -> None:
    world = lab()
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        world.cluster.seed(some("set", 3))
        await asyncio.sleep(1)
        assert world.made() == ["set-0", "set-1", "set-2"]


@in_virtual_time
async def test_keys_that_begin_together_ask_once_for_the_schemas_of_what_they_write(monkeypatch: pytest.MonkeyPatch) -> None:
    world = lab()
    asked: list[frozenset[Kind]] = []

    async def slow(kinds: Iterable[Kind]) -> FreeSchemas:
        asked.append(frozenset(kinds))
        await asyncio.sleep(0.5)
        return FreeSchemas()

    monkeypatch.setattr(world.cluster, "schemas", slow)
    world.cluster.seed(*(some(f"set{number}", 1) for number in range(4)))
    async with loops_running(world):
        assert (len(world.made()), asked) == (4, [frozenset({CONFIG_MAP})])


@in_virtual_time
async def test_a_field_that_a_definition_has_since_an_upgrade_is_written_within_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    world, asked = lab(), list[frozenset[Kind]]()

    async def counted(kinds: Iterable[Kind]) -> FreeSchemas:
        asked.append(frozenset(kinds))
        return FreeSchemas()

    monkeypatch.setattr(world.cluster, "schemas", counted)
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        for age in (10, 590, 11):
            await asyncio.sleep(age)
            world.loop.enqueue("set")
        await asyncio.sleep(1)
        assert len(asked) == 2


@in_virtual_time
async def test_what_is_no_longer_wanted_is_deleted() -> None:
    world = lab()
    world.cluster.seed(some("set", 3))
    async with loops_running(world):
        world.cluster.seed(some("set", 1))
        await asyncio.sleep(1)
        assert world.made() == ["set-0"]


@in_virtual_time
async def test_what_others_made_is_never_deleted() -> None:
    world = lab()
    world.cluster.seed(some("set", 1), config_map("set-other", {}))
    async with loops_running(world):
        assert world.made() == ["set-0", "set-other"]


@in_virtual_time
async def test_nothing_is_deleted_while_something_could_not_be_written() -> None:
    world = lab()
    world.cluster.seed(some("set", 2))
    async with loops_running(world):
        world.cluster.fail(lambda request: request.verb == "apply", Invalid(422, "Invalid", "no"), times=-1)
        world.cluster.seed(some("set", 1, "2"))
        await asyncio.sleep(30)
        assert world.made() == ["set-0", "set-1"]
        world.cluster.faults.clear()
        await asyncio.sleep(1000)
        assert world.made() == ["set-0"]


@in_virtual_time
async def test_a_member_that_turns_up_later_is_noticed() -> None:
    world = lab()
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        uid = world.cluster.store.objects[ref("set")]["metadata"]["uid"]
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "set", "uid": uid}
        world.cluster.seed(config_map("set-9", {}, ownerReferences=[owner]))
        await asyncio.sleep(1)
        assert world.made() == ["set-0"]


@in_virtual_time
async def test_what_is_being_deleted_is_not_deleted_again() -> None:
    world = lab()
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        resource = world.cluster.kinds.get(CONFIG_MAP)
        await world.cluster.patch(resource, "default", "set-0", {"metadata": {"finalizers": ["example.com/slow"]}}, manager="slow")
        world.cluster.seed(some("set", 0))
        await asyncio.sleep(1)
        world.cluster.forget_requests()
        world.loop.enqueue("set")
        await asyncio.sleep(1)
        assert not world.cluster.writes()


@in_virtual_time
async def test_a_deleted_object_is_made_again() -> None:
    world = lab()
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        world.cluster.store.remove(ref("set-0"))
        await asyncio.sleep(1)
        assert world.made() == ["set-0"]


@in_virtual_time
async def test_a_changed_field_is_set_back() -> None:
    world = lab()
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        resource = world.cluster.kinds.get(CONFIG_MAP)
        await world.cluster.apply(resource, config_map("set-0", {"value": "drifted"}), manager="us", force=True)
        await asyncio.sleep(1)
        assert world.cluster.store.objects[ref("set-0")]["data"] == {"value": "1"}


@in_virtual_time
async def test_a_key_that_is_no_more_is_forgotten() -> None:
    world = lab()
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        primary = world.cluster.store.objects[ref("set")]
        await world.cluster.delete(world.cluster.kinds.get(CONFIG_MAP), "default", "set", uid=primary["metadata"]["uid"])
        await asyncio.sleep(1)
        assert world.made() == []
        assert world.loop._dependencies.count() == 0


@in_virtual_time
async def test_a_failed_write_is_tried_again() -> None:
    world = lab()
    world.cluster.seed(some("set", 1))
    world.cluster.fail(lambda request: request.writes, ServerFailure(500, "InternalError", "webhook timed out"), times=5)
    async with loops_running(world):
        await asyncio.sleep(300)
        assert world.made() == ["set-0"]
        assert world.loop.queue.retry("set") == 0.005, "its next failure is its first"


@in_virtual_time
async def test_a_server_that_asks_for_time_gets_it_and_no_more() -> None:
    world = lab()
    world.cluster.seed(some("set", 1))
    world.cluster.fail("apply", TooManyRequests(429, "TooManyRequests", "slowly", retry_after=3.0))
    async with loops_running(world):
        assert world.made() == []
        await asyncio.sleep(3)
        assert world.made() == ["set-0"]


@in_virtual_time
async def test_a_function_that_fails_is_reported_and_tried_again_without_harm_to_others() -> None:
    world = lab()
    healthy = world.desired

    def broken(view: View, key: str) -> Any:
        if key == "set" and len(world.errors) < 3:
            raise ValueError("a bug")
        return healthy(view, key)

    world.desired = broken
    world.cluster.seed(some("set", 1), some("set2", 1))
    async with loops_running(world):
        assert world.made() == ["set-0", "set2-0"]
        assert [str(error) for error in world.errors] == ["a bug"] * 3


@in_virtual_time
async def test_a_kind_that_we_may_not_read_stops_only_who_wants_it() -> None:
    world = lab()
    healthy = world.desired
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}}
    world.desired = lambda view, key: Graph([Desired(secret)]) if key == "set" else healthy(view, key)
    world.cluster.fail(lambda request: request.resource.plural == "secrets", Forbidden(403, "Forbidden", "may not watch secrets"), times=-1)
    world.cluster.seed(some("set", 1))
    async with loops_running(world):
        world.cluster.seed(some("set2", 1))
        await asyncio.sleep(5)
        assert world.made() == ["set2-0"]
        told = {outcome.reason for result in world.results for outcome in result.outcomes if outcome.action is Action.FAILED}
        assert told == {"the live object cannot be read: Secret cannot be listed: may not watch secrets"}


@in_virtual_time
async def test_a_kind_whose_lists_fail_holds_no_worker_of_those_who_want_others() -> None:
    """Each key that wanted it kept one, until none was left."""
    world = lab()
    healthy, many = world.desired, [f"set{number}" for number in range(2, 22)]
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "default"}}
    world.desired = lambda view, key: Graph([Desired(secret)]) if key in many else healthy(view, key)
    away = ServerFailure(500, "InternalError", "its conversion webhook is away")
    world.cluster.fail(lambda request: request.resource.plural == "secrets", away, times=-1)
    world.cluster.seed(*(some(name, 1) for name in many))
    async with loops_running(world):
        await asyncio.sleep(60)
        world.cluster.seed(some("set", 1))
        await asyncio.sleep(5)
        assert world.made() == ["set-0"]
        told = {outcome.reason for result in world.results for outcome in result.outcomes if outcome.action is Action.FAILED}
        assert told == {"the live object cannot be read: Secret cannot be listed: its conversion webhook is away"}
        world.cluster.faults.clear()
        await asyncio.sleep(120)
        assert world.cluster.find(Ref("", "Secret", "default", "s")) is not None


@in_virtual_time
async def test_a_function_can_ask_to_be_called_again_later() -> None:
    world = lab()
    times: list[float] = []

    def again(view: View, key: str) -> Graph:
        times.append(now())
        return Graph([], requeue_after=60.0)

    world.desired = again
    world.cluster.seed(some("set", 0))
    async with loops_running(world):
        await asyncio.sleep(125)
        assert [round(later - earlier) for earlier, later in pairwise(times)] == [60, 60]


@in_virtual_time
async def test_a_loop_that_may_not_read_says_so_and_ends() -> None:
    world = lab()
    world.cluster.fail("watch", Forbidden(403, "Forbidden", "may not watch configmaps"), times=-1)
    with pytest.raises(Forbidden):
        await world.loop.run()


@in_virtual_time
async def test_a_stop_lets_a_key_in_work_end() -> None:
    world = lab()
    world.cluster.seed(some("set", 4))

    async def slow(request: MemoryRequest) -> None:
        await asyncio.sleep(3 if request.writes else 0)

    world.cluster.before = slow
    running_loop = asyncio.ensure_future(world.loop.run())
    await asyncio.sleep(1)
    world.loop.stop(grace=25.0)
    await running_loop
    assert world.made() == ["set-0", "set-1", "set-2", "set-3"]


@in_virtual_time
async def test_a_stop_begins_no_new_key_and_leaves_nothing_running() -> None:
    world = lab(workers=1)
    world.cluster.seed(*(some(f"set{number}", 1) for number in range(5)))

    async def slow(request: MemoryRequest) -> None:
        await asyncio.sleep(10 if request.writes else 0)

    world.cluster.before = slow
    running_loop = asyncio.ensure_future(world.loop.run())
    await asyncio.sleep(1)
    world.loop.stop(grace=25.0)
    await running_loop
    assert (len(world.made()), len(asyncio.all_tasks()), len(world.cluster.store.watchers)) == (1, 1, 0)


@in_virtual_time
async def test_keys_that_wait_for_nothing_let_others_have_their_turn() -> None:
    """What they are held for, such as the list of a kind, would else not be heard before all of them were looked at."""
    world, looks = lab(workers=4), list[int]()

    def held(view: View, key: str) -> Hold:
        if not looks:
            asyncio.get_running_loop().call_soon(lambda: looks.append(len(world.calls)))
        return Hold("not listed yet")

    world.desired = held
    world.cluster.seed(*(some(f"set{number}", 0) for number in range(100)))
    async with loops_running(world):
        assert looks[0] <= 8
        assert len(set(world.calls)) == 100


@in_virtual_time
async def test_of_two_replicas_only_the_leader_writes() -> None:
    first = lab(lease="a")
    second = type(first)(first.cluster, lease="b")
    first.cluster.seed(some("set", 2))
    async with loops_running(first, second):
        assert (bool(first.calls), bool(second.calls)) == (True, False)


@in_virtual_time
async def test_the_second_replica_goes_on_soon_where_the_first_stopped() -> None:
    """The one that stops gives up its lease, which would be valid for longer."""
    first = lab(lease="a")
    second = type(first)(first.cluster, lease="b")
    first.cluster.seed(some("set", 1))
    async with loops_running(first, second) as tasks:
        first.loop.stop()
        await tasks[0]
        first.cluster.seed(some("set", 3))
        await asyncio.sleep(8)
        assert second.made() == ["set-0", "set-1", "set-2"]


@in_virtual_time
async def test_a_replica_that_is_cut_off_writes_nothing_after_another_took_over() -> None:
    first = lab(lease="a")
    second = type(first)(first.cluster, lease="b")
    second.reconciler.manager = "us-too"
    first.cluster.seed(some("set", 1))
    async with loops_running(first, second):
        cut = lambda request: request.manager == "a"  # noqa: E731 - only renewals: the worst that can happen
        first.cluster.fail(cut, Unreachable("cut off"), times=-1)
        while second.lease and not second.lease.held.is_set():
            await asyncio.sleep(0.5)
        first.cluster.forget_requests()
        first.cluster.seed(some("set", 5, "2"))
        await asyncio.sleep(20)
        assert {request.manager for request in first.cluster.writes() if request.resource.plural == "configmaps"} == {"us-too"}


@in_virtual_time
async def test_a_standby_stops_at_once() -> None:
    first = lab(lease="a")
    second = type(first)(first.cluster, lease="b")
    async with loops_running(first, second) as tasks:
        began = now()
        second.loop.stop()
        await tasks[1]
        assert now() - began < 1.0


@pytest.mark.parametrize("kind", [TooManyRequests, Forbidden], ids=["the server", "a webhook that denies for now"])
@in_virtual_time
async def test_who_goes_on_asking_for_time_is_not_asked_before(kind: type[ApiError]) -> None:
    """A webhook of somebody, say, of which a request knows only that it was refused for good."""
    world = lab()
    world.cluster.seed(some("set", 1))
    world.cluster.fail("apply", kind(429, "TooManyRequests", "slowly", retry_after=30.0), times=-1)
    async with loops_running(world):
        await asyncio.sleep(299)
        assert sum(request.verb == "apply" for request in world.cluster.log) == 10
