"""Statuses, events and deletions: written in the order that makes a crash harmless, once, and over nothing that has changed."""

from __future__ import annotations

import asyncio
from typing import Any

from applier.cache import Query
from applier.desired import Deletion, EventWrite, Gone, Graph, Hold, ObjectReference, StatusWrite
from applier.errors import Forbidden, ServerFailure, WriteConflict
from applier.loop import View
from applier.outcome import Action
from applier.ref import Kind, Manifest, Ref, resource_version_of, uid_of
from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import in_virtual_time
from tests.suite.rows import rows

from .lab import CONFIG_MAP, WHY, Lab, desired, lab, loops_running, ref, some

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 3}}
WEB = Ref("apps", "Deployment", "default", "web")


def live(view: View, ref: Ref = WEB) -> Manifest:
    found = view.get(ref)
    assert found is not None
    return found


def status(view: View, replicas: int, *, versioned: bool = False) -> StatusWrite:
    one = live(view)
    return StatusWrite(ObjectReference.of(one), {"replicas": replicas}, resource_version_of(one) if versioned else "")


def world_with_a_deployment() -> Lab:
    world = lab()
    world.cluster.seed(some("set", 2), DEPLOYMENT, manager="them")
    world.desired = lambda view, key: Graph([])
    world.reconciler.members = None
    return world


def writes(world: Lab) -> list[str]:
    return [" ".join(filter(None, (one.verb, one.resource.plural, one.name, one.subresource))) for one in world.cluster.writes()]


async def looked_at(world: Lab, function: Any, seconds: float = 1.0) -> None:
    """Lets the loop do what a function says."""
    world.desired = function
    world.cluster.forget_requests()
    world.loop.enqueue("set")
    await asyncio.sleep(seconds)


async def watch_deployments(world: Lab) -> None:
    world.cache.add(Query(Kind("apps", "v1", "Deployment")))
    await world.cache.synced()


@in_virtual_time
async def test_a_status_is_applied_to_the_subresource_and_costs_nothing_when_it_is_there() -> None:
    world = world_with_a_deployment()
    async with loops_running(world):
        await watch_deployments(world)
        await looked_at(world, lambda view, key: Graph([], statuses=[status(view, 2)]))
        assert writes(world) == ["apply deployments web status"]
        assert world.cluster.store.objects[WEB]["status"] == {"replicas": 2}
        await looked_at(world, lambda view, key: Graph([], statuses=[status(view, 2)]))
        assert world.cluster.log == []


@in_virtual_time
async def test_a_status_field_that_is_given_up_goes_away_and_those_of_others_stay_and_cost_nothing() -> None:
    world = world_with_a_deployment()
    async with loops_running(world):
        await watch_deployments(world)
        resource = world.cluster.kinds.get(ObjectReference.of(DEPLOYMENT).kind)
        theirs: Manifest = {**DEPLOYMENT, "status": {"readyReplicas": 1}}
        del theirs["spec"]
        await world.cluster.apply(resource, theirs, manager="them", subresource="status")

        def two_fields(view: View, key: str) -> Graph:
            return Graph([], statuses=[StatusWrite(ObjectReference.of(live(view)), {"replicas": 2, "observedGeneration": 1})])

        await looked_at(world, two_fields)
        await looked_at(world, lambda view, key: Graph([], statuses=[status(view, 2)]))
        assert world.cluster.store.objects[WEB]["status"] == {"replicas": 2, "readyReplicas": 1}
        await looked_at(world, lambda view, key: Graph([], statuses=[status(view, 2)]))
        assert world.cluster.log == []


@in_virtual_time
async def test_the_next_look_sees_the_status_that_was_written_though_no_watch_tells_it() -> None:
    world = world_with_a_deployment()
    seen: list[Any] = []

    def counts_up(view: View, key: str) -> Graph:
        seen.append((live(view).get("status") or {}).get("replicas", 0))
        return Graph([], statuses=[status(view, min(seen[-1] + 1, 3), versioned=True)])

    async with loops_running(world):
        await watch_deployments(world)
        world.cluster.stall_watches()
        await looked_at(world, counts_up)
        assert (seen, world.cache.lag() > 0) == ([0, 1, 2, 3], True)
        assert len(world.cluster.writes()) == 3


@in_virtual_time
async def test_a_status_that_rests_on_a_count_is_worked_out_again_when_the_object_has_changed() -> None:
    world = world_with_a_deployment()
    calls: list[str] = []

    def counts(view: View, key: str) -> Graph:
        calls.append(resource_version_of(live(view)))
        if len(calls) == 1:  # somebody is faster, and the watch is slow
            world.cluster.stall_watches()
            world.cluster.seed({**live(view), "spec": {"replicas": 5}})
        return Graph([], statuses=[status(view, live(view)["spec"]["replicas"], versioned=True)])

    async with loops_running(world):
        await watch_deployments(world)
        await looked_at(world, counts)
        assert world.cluster.store.objects[WEB]["status"] == {"replicas": 5}
        assert len(set(calls)) == len(calls) == 3, "no version is looked at twice: not the one that was refused, nor what was written"
        conflicts = [one for result in world.results for one in result.outcomes if isinstance(one.error, WriteConflict)]
        assert [one.action for one in conflicts] == [Action.HELD]


@in_virtual_time
async def test_events_come_first_then_statuses_then_objects_then_deletions() -> None:
    world = world_with_a_deployment()

    def all_of_it(view: View, key: str) -> Graph:
        graph = desired(view, key)
        assert isinstance(graph, Graph)
        about = ObjectReference.of(live(view))
        goes = [Deletion(ObjectReference.of(one), "has failed") for one in view.by_label("", "ConfigMap", "broken=yes")]
        event = EventWrite(about, "Warning", "MemberFailed", "a member has failed")
        return Graph(graph.objects.values(), statuses=[status(view, 1)], events=[event], deletions=goes)

    async with loops_running(world):
        await watch_deployments(world)
        broken = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "namespace": "default", "labels": {"broken": "yes"}}}
        world.cluster.seed(broken)
        await asyncio.sleep(1)
        await looked_at(world, all_of_it)
        order = [one.split(" ")[0] + " " + one.split(" ")[1] for one in writes(world)]
        assert order == [
            "create events",
            "apply deployments",
            "apply configmaps",
            "apply configmaps",
            "patch configmaps",
            "delete configmaps",
        ]


def surplus(view: View, key: str) -> Graph | Gone:
    """The set's objects, of which those that are no longer asked for go with a reason of their own."""
    graph, primary = desired(view, key), view.get(ref(key))
    if isinstance(graph, Graph) and primary is not None:
        over = [one for one in view.by_owner(uid_of(primary)) if Ref.of(one) not in graph.objects]
        graph.deletions = [Deletion(ObjectReference.of(one), "is surplus") for one in over]
    assert not isinstance(graph, Hold)
    return graph


@in_virtual_time
async def test_a_deletion_says_why_on_the_object_before_it_goes() -> None:
    world = lab()
    world.desired = surplus
    world.cluster.seed(some("set", 2))
    last: list[Manifest] = []
    async with loops_running(world):
        world.cache.subscribe(lambda ref, old, new: last.append(old) if new is None and old else None)
        world.cluster.seed(some("set", 1))
        await asyncio.sleep(1)
        assert [one["metadata"]["annotations"] for one in last] == [{WHY: "is surplus"}]


@in_virtual_time
async def test_what_is_not_deleted_in_the_end_does_not_go_on_saying_that_it_was() -> None:
    world = lab()
    world.desired = surplus
    world.cluster.seed(some("set", 2))
    async with loops_running(world):
        world.cluster.fail("delete", ServerFailure(500, "InternalError", "etcd is away"), times=-1)
        world.cluster.seed(some("set", 1))
        await asyncio.sleep(1)
        assert world.cluster.store.objects[ref("set-1")]["metadata"]["annotations"] == {WHY: "is surplus"}
        world.cluster.seed(some("set", 2))
        await asyncio.sleep(1)
        assert not world.cluster.store.objects[ref("set-1")]["metadata"].get("annotations")


@in_virtual_time
async def test_what_is_merely_no_longer_wanted_goes_with_one_request() -> None:
    world = lab()
    world.cluster.seed(some("set", 2))
    async with loops_running(world):
        world.cluster.forget_requests()
        world.cluster.seed(some("set", 1))
        await asyncio.sleep(1)
        assert [(request.verb, request.name) for request in world.cluster.writes()] == [("delete", "set-1")]


def replaced(view: View, key: str) -> Graph | Gone:
    """The set's objects, of which the first is of an old make and has to go although it is wanted."""
    graph = desired(view, key)
    if isinstance(graph, Graph) and (old := view.get(ref("set-0"))) and "old" in (old["metadata"].get("labels") or {}):
        graph.deletions = [Deletion(ObjectReference.of(old), "of an old make", {"example.com/budget": "training"})]
    assert not isinstance(graph, Hold)
    return graph


@in_virtual_time
async def test_what_has_to_go_although_it_is_wanted_is_deleted_and_made_again() -> None:
    world = lab()
    world.cluster.seed(some("set", 2))
    async with loops_running(world):
        world.desired = replaced
        old = world.cluster.store.objects[ref("set-0")]
        world.cluster.seed({**old, "metadata": {**old["metadata"], "labels": {"old": ""}}})
        await asyncio.sleep(1)
        new = world.cluster.store.objects[ref("set-0")]
        assert uid_of(new) != uid_of(old) and not new["metadata"].get("labels")


@in_virtual_time
async def test_what_is_on_its_way_out_is_not_waited_for_and_made_again_when_it_is_gone() -> None:
    world = lab(workers=1)
    world.cluster.seed(some("set", 2), some("set2", 1))
    async with loops_running(world):
        world.desired = replaced
        old = world.cluster.store.objects[ref("set-0")]
        world.cluster.seed({**old, "metadata": {**old["metadata"], "labels": {"old": ""}, "finalizers": ["example.com/slow"]}})
        await asyncio.sleep(1)
        world.cluster.seed(some("set2", 2))
        await asyncio.sleep(1)
        assert "set2-1" in world.made(), "the only worker is free"
        assert world.cluster.store.objects[ref("set-0")]["metadata"]["annotations"] == {
            WHY: "of an old make",
            "example.com/budget": "training",
        }
        resource = world.cluster.kinds.get(CONFIG_MAP)
        await world.cluster.patch(resource, "default", "set-0", {"metadata": {"finalizers": None}}, manager="slow")
        await asyncio.sleep(1)
        assert uid_of(world.cluster.store.objects[ref("set-0")]) != uid_of(old)


@in_virtual_time
async def test_another_object_that_took_the_name_is_not_deleted() -> None:
    world = world_with_a_deployment()
    stale: list[ObjectReference] = []

    def too_late(view: View, key: str) -> Graph:
        stale.append(stale[0] if stale else ObjectReference.of(live(view)))
        if len(stale) == 1:
            world.cluster.store.remove(WEB)
            world.cluster.seed(DEPLOYMENT)
        return Graph([], deletions=[Deletion(stale[0], "old")])

    async with loops_running(world):
        await watch_deployments(world)
        await looked_at(world, too_late)
        assert WEB in world.cluster.store.objects


@in_virtual_time
async def test_an_event_is_told_once_also_by_whoever_starts_anew() -> None:
    world = world_with_a_deployment()

    def tells(view: View, key: str) -> Graph:
        return Graph([], events=[EventWrite(ObjectReference.of(live(view)), "Normal", "Scaled", "to 3 replicas")])

    async with loops_running(world):
        await watch_deployments(world)
        await looked_at(world, tells)
        await looked_at(world, tells)
        assert world.cluster.log == []
        world.reconciler._events._recorded.clear()
        await looked_at(world, tells)
        assert [one.verb for one in world.cluster.log] == ["create"]
        events = [one for one in world.cluster.store.objects.values() if one["kind"] == "Event"]
        assert [(one["reason"], one["involvedObject"]["name"], one["count"]) for one in events] == [("Scaled", "web", 1)]


@in_virtual_time
async def test_an_event_that_may_not_be_written_keeps_nothing_back() -> None:
    world = world_with_a_deployment()

    def tells(view: View, key: str) -> Graph:
        event = EventWrite(ObjectReference.of(live(view)), "Normal", "Gone", "it goes")
        return Graph([], events=[event], deletions=[Deletion(ObjectReference.of(live(view)), "goes")] if view.get(WEB) else [])

    async with loops_running(world):
        await watch_deployments(world)
        world.cluster.fail("create", Forbidden(403, "Forbidden", "may not create events"), times=-1)
        await looked_at(world, tells)
        assert WEB not in world.cluster.store.objects


@in_virtual_time
async def test_a_hold_writes_its_status_and_event_and_nothing_else() -> None:
    world = world_with_a_deployment()

    def holds(view: View, key: str) -> Hold:
        event = EventWrite(ObjectReference.of(live(view)), "Warning", "Invalid", "no")
        return Hold("no", statuses=[status(view, 0)], events=[event], requeue_after=30.0)

    async with loops_running(world):
        await watch_deployments(world)
        await looked_at(world, holds)
        assert writes(world)[1:] == ["apply deployments web status"]
        calls = len(world.calls)
        await asyncio.sleep(61)
        assert len(world.calls) - calls == 2


@rows("after", [False, True], ids=["before the server has it", "before we hear of it"])
@rows("write", range(1, 7))
def test_whoever_dies_at_any_write_is_finished_by_the_next(write: int, after: bool) -> None:
    """A first replica loses its connection for ever at one write; a second one, which knows nothing of it, ends where it would have."""

    def step(view: View, key: str) -> Graph | Gone | Hold:
        graph = replaced(view, key)
        if isinstance(graph, Graph) and view.get(WEB):
            count = len(view.by_owner(uid_of(live(view, ref("set")))))
            graph.statuses = [status(view, count, versioned=True)]
            graph.events = [EventWrite(ObjectReference.of(live(view)), "Normal", "Counted", f"{count} members")]
        return graph

    @in_virtual_time
    async def live_through() -> None:
        first = world_with_a_deployment()
        first.cluster.seed(some("set", 3))
        async with loops_running(first):
            await watch_deployments(first)
            await looked_at(first, desired)
            old = first.cluster.store.objects[ref("set-0")]
            first.cluster.forget_requests()
            cut: list[MemoryRequest] = []

            def is_dead(request: MemoryRequest) -> bool:
                if request.writes and len(first.cluster.writes()) >= write:
                    cut.append(request)
                return bool(cut) and request.writes

            first.cluster.fail(is_dead, ServerFailure(500, "InternalError", "dead"), after=after, times=-1 if not after else 1)
            first.desired = step
            first.cluster.seed(some("set", 2), {**old, "metadata": {**old["metadata"], "labels": {"old": ""}}})
            await asyncio.sleep(0.01)
        first.cluster.faults.clear()
        second = Lab(first.cluster)
        second.desired = step
        async with loops_running(second):
            await watch_deployments(second)
            second.loop.enqueue("set")
            await asyncio.sleep(200)
            assert second.made() == ["set-0", "set-1"]
            assert "old" not in (first.cluster.store.objects[ref("set-0")]["metadata"].get("labels") or {})
            assert first.cluster.store.objects[WEB]["status"] == {"replicas": 2}

    live_through()


def test_words_about_an_object_make_the_name_of_an_event() -> None:
    about = ObjectReference.of({**DEPLOYMENT, "metadata": {**DEPLOYMENT["metadata"], "uid": "u"}})  # type: ignore[dict-item]
    names = [EventWrite(about, "Normal", reason, message).name for reason, message in (("A", "x"), ("A", "x"), ("A", "y"), ("B", "x"))]
    assert (names[0] == names[1], len(set(names))) == (True, 3)
