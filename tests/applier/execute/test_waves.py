"""A plan carried out: in order, past failures, and stopped."""

from __future__ import annotations

import asyncio

import pytest

from applier.desired import AwaitedGroup, Desired
from applier.errors import Forbidden, ServerFailure
from applier.events import Finished, Started, WaveStarted
from applier.execute.concurrency import Concurrency
from applier.ref import Manifest
from applier.stop import Stop
from applier.testing.memory.faults import MemoryRequest

from ..things import definition, desired, manifest, ref
from .lab import Lab

DENIED = Forbidden(403, "Forbidden", "admission refused it")


def of(name: str):  # type: ignore[no-untyped-def]
    return lambda request: request.name == name and request.writes


async def test_what_is_not_there_is_created() -> None:
    lab = Lab()
    assert await lab.apply(desired("a", data={"x": "1"})) == "a=created"
    assert lab.live(ref("a"))["data"] == {"x": "1"}


async def test_what_differs_is_configured() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1"}))
    assert await lab.apply(desired("a", data={"x": "2"})) == "a=configured"
    assert lab.live(ref("a"))["data"] == {"x": "2"}


async def test_an_unchanged_graph_costs_no_request() -> None:
    lab = Lab()
    objects = [desired("a"), desired("b", "ConfigMap", ref("a")), desired("c", owner=ref("a"))]
    await lab.apply(*objects)
    assert (await lab.apply(*objects), lab.requests()) == ("a=unchanged b=unchanged c=unchanged", "")


async def test_a_field_that_we_no_longer_want_goes_away() -> None:
    lab = Lab()
    await lab.apply(desired("a", data={"x": "1", "y": "2"}))
    await lab.apply(desired("a", data={"x": "1"}))
    assert lab.live(ref("a"))["data"] == {"x": "1"}


async def test_waves_are_written_one_after_the_other() -> None:
    lab = Lab()
    await lab.apply(desired("c", "ConfigMap", ref("b")), desired("b", "ConfigMap", ref("a")), desired("a"))
    assert lab.requests() == "apply a, apply b, apply c"


async def test_a_wave_is_written_in_parallel() -> None:
    lab = Lab()
    await lab.apply(*(desired(str(n)) for n in range(50)), concurrency=Concurrency(16, most=16))
    assert lab.cluster.most_in_flight == 16


async def test_only_what_depends_on_a_failure_is_held() -> None:
    lab = Lab()
    lab.cluster.fail(of("a"), DENIED)
    objects = [desired("a"), desired("b", "ConfigMap", ref("a")), desired("c"), desired("d", "ConfigMap", ref("c"))]
    assert await lab.apply(*objects) == "a=failed c=created b=held d=created"


async def test_all_that_wait_for_a_group_are_held_by_a_failure_in_it_and_by_its_first_cause() -> None:
    lab = Lab()
    lab.cluster.fail(of("b"), DENIED)
    group, other = AwaitedGroup([ref("a"), ref("c")]), AwaitedGroup([ref("a"), ref("d")])
    objects = [desired("a"), desired("b"), desired("c", "ConfigMap", ref("b")), desired("d")]
    late = [Desired(manifest(name), groups=[waits]) for name, waits in (("w", group), ("x", group), ("y", other), ("z", other))]
    assert await lab.apply(*objects, *late) == "a=created b=failed d=created c=held y=created z=created w=held x=held"
    assert lab.reason(ref("x")) == "waits for ConfigMap/shop/c, which waits for ConfigMap/shop/b, which failed"


async def test_what_is_held_names_what_it_waits_for() -> None:
    lab = Lab()
    lab.cluster.fail(of("a"), DENIED)
    await lab.apply(desired("a"), desired("b", "ConfigMap", ref("a")), desired("c", "ConfigMap", ref("b")))
    assert lab.reason(ref("a")) == "admission refused it"
    assert lab.reason(ref("b")) == "waits for ConfigMap/shop/a, which failed"
    assert lab.reason(ref("c")) == "waits for ConfigMap/shop/b, which waits for ConfigMap/shop/a, which failed"


async def test_the_next_run_does_what_was_left() -> None:
    lab = Lab()
    lab.cluster.fail(of("a"), DENIED)
    objects = [desired("a"), desired("b", "ConfigMap", ref("a"))]
    await lab.apply(*objects)
    assert await lab.apply(*objects) == "a=created b=created"


async def test_a_namespace_that_cannot_be_made_holds_what_is_in_it() -> None:
    lab = Lab()
    lab.cluster.fail(of("bar"), DENIED)
    assert await lab.apply(desired("bar", "Namespace"), desired("a", namespace="bar")) == "bar=failed a=held"


async def test_a_namespace_that_is_there_and_cannot_be_changed_holds_nothing() -> None:
    """Few may write namespaces, and many have theirs in their manifests."""
    lab = Lab()
    lab.cluster.fail(of("shop"), DENIED)
    assert await lab.apply(desired("shop", "Namespace", metadata={"labels": {"a": "b"}}), desired("a")) == "shop=failed a=created"


async def test_a_definition_and_its_objects_are_made_in_one_run() -> None:
    lab = Lab()
    assert await lab.apply(desired("e", "Engine"), definition()) == "engines.example.com=created e=created"


async def test_the_error_of_a_failure_is_kept() -> None:
    lab = Lab()
    lab.cluster.fail("apply", DENIED)
    await lab.apply(desired("a"))
    assert lab.outcomes[ref("a")].error is DENIED


async def test_a_server_that_fails_fails_each_object_with_its_words() -> None:
    lab = Lab()
    lab.cluster.fail("apply", ServerFailure(500, "InternalError", "etcd is away"), times=-1)
    assert await lab.apply(desired("a"), desired("b")) == "a=failed b=failed"


async def test_an_error_that_nobody_expects_is_the_outcome_of_one_object() -> None:
    lab = Lab()
    lab.cluster.fail(of("a"), KeyError("oops"))
    assert await lab.apply(desired("a"), desired("b")) == "a=failed b=created"
    assert lab.reason(ref("a")) == "KeyError: 'oops'"


async def test_what_happens_is_told_as_it_happens() -> None:
    lab = Lab()
    await lab.apply(desired("a"))
    assert [type(event) for event in lab.events] == [WaveStarted, Started, Finished]


async def test_what_needs_no_write_is_told_as_finished_only() -> None:
    lab = Lab()
    await lab.apply(desired("a"))
    lab.events.clear()
    await lab.apply(desired("a"))
    assert [type(event) for event in lab.events] == [WaveStarted, Finished]


async def test_every_written_object_is_handed_on() -> None:
    lab, written = Lab(), list[Manifest]()
    await lab.apply(desired("a"), after_write=written.append)
    assert [manifest["metadata"]["uid"] for manifest in written] == [lab.live(ref("a"))["metadata"]["uid"]]


async def test_a_run_that_is_stopped_finishes_what_is_in_flight_and_holds_the_rest() -> None:
    lab, stop = Lab(), Stop()

    async def stop_at_a(request: MemoryRequest) -> None:
        stop.cancel()

    lab.cluster.before = stop_at_a
    assert await lab.apply(desired("a"), desired("b", "ConfigMap", ref("a")), stop=stop) == "a=created b=held"
    assert lab.reason(ref("b")) == "not done: the run was stopped before"


async def test_a_run_that_is_cancelled_finishes_what_is_in_flight_first() -> None:
    lab, begun, go = Lab(), asyncio.Event(), asyncio.Event()

    async def wait(request: MemoryRequest) -> None:
        begun.set()
        await go.wait()

    lab.cluster.before = wait
    run = asyncio.create_task(lab.apply(desired("a"), desired("b", "ConfigMap", ref("a"))))
    await begun.wait()
    run.cancel()
    await asyncio.sleep(0)
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert lab.cluster.find(ref("a")) is not None
    assert lab.cluster.find(ref("b")) is None


async def test_a_run_that_is_cancelled_twice_breaks_off() -> None:
    lab, begun = Lab(), asyncio.Event()

    async def wait(request: MemoryRequest) -> None:
        begun.set()
        await asyncio.Event().wait()

    lab.cluster.before = wait
    run = asyncio.create_task(lab.apply(desired("a")))
    await begun.wait()
    run.cancel()
    await asyncio.sleep(0)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert lab.cluster.find(ref("a")) is None
