"""What the probes say of an operator that starts, stands by, leads, or is stuck."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from applier.cluster import Resource
from applier.errors import Forbidden, ServerFailure, Unreachable
from applier.loop import Lease, Result
from applier.ref import Kind
from applier.testing.memory.faults import MemoryRequest
from applier.testing.virtual_time import in_virtual_time
from grove_compiler.source.document import Document
from grove_compiler.step import Key, StepContext
from grove_operator.controller.operator import Operator, OperatorOptions, settings_of
from grove_operator.telemetry.health import Health, HealthCheck, OperatorState, unreadable
from grove_operator.telemetry.server import health_listener, metrics_listener
from tests.features.compiling import shipped_program

from .conftest import Watched, at_work


@in_virtual_time
async def test_it_starts_until_every_kind_is_listed() -> None:
    world = Watched()
    world.cluster.fail(lambda one: one.verb in ("list", "watch") and one.resource.plural == "pods", Unreachable("away"), times=3)
    assert world.health().state is OperatorState.STARTING
    async with at_work(world):
        await asyncio.sleep(0.1)
        assert world.health() == (OperatorState.STARTING, "starting: Pod not listed yet", "")
        await asyncio.sleep(60.0)
        assert world.health() == (OperatorState.LEADING, "leading", "")


@in_virtual_time
async def test_it_leads_without_a_right_and_shows_which() -> None:
    world = Watched()
    lacks = ("watch", "horizontalpodautoscalers.autoscaling")
    error = Forbidden(403, "Forbidden", "may not watch autoscalers", details={"missing": lacks})
    world.cluster.fail(lambda one: one.verb in ("list", "watch") and one.resource.plural == "horizontalpodautoscalers", error, times=-1)
    async with at_work(world):
        await asyncio.sleep(5.0)
        assert world.health() == (OperatorState.LEADING, "leading", "")
        assert world.samples()['grove_operator_missing_rights{resource="horizontalpodautoscalers.autoscaling",verb="watch"}'] == 1.0


@in_virtual_time
async def test_one_of_two_leads_and_the_other_stands_by() -> None:
    first, second = Watched(), Watched()
    for number, world in enumerate((first, second)):
        world.cluster = first.cluster
        lease = Lease(world.cluster, "default", "grove", f"candidate-{number}")
        world.operator = Operator(world.cluster, first.operator._context, world.clock, OperatorOptions("default", lease))
        world.health = HealthCheck(world.operator)
    async with at_work(first):
        await asyncio.sleep(5.0)
        async with at_work(second):
            await asyncio.sleep(5.0)
            assert [world.health().state for world in (first, second)] == [OperatorState.LEADING, OperatorState.STANDBY]
            assert second.health().is_ready


@in_virtual_time
async def test_a_leader_whose_webhooks_do_not_listen_is_alive_and_not_ready() -> None:
    world, awaited = Watched(), ["webhooks wait for a certificate"]
    world.health = HealthCheck(world.operator, lambda: awaited[0])
    async with at_work(world):
        await asyncio.sleep(5.0)
        health = world.health()
        assert (health.state, health.is_alive, health.is_ready) == (OperatorState.LEADING, True, False)
        assert health.message == "leading; webhooks wait for a certificate"
        awaited[0] = ""
        assert world.health().is_ready


POD, SET = Kind("", "v1", "Pod"), Kind("grove.io", "v1alpha1", "PodCliqueSet")
FAILS = ServerFailure(500, "InternalError", "conversion webhook failed")


DISPENSABLE = [
    Resource(Kind("kai.scheduler", "v1alpha1", "Topology"), "topologies", False),
    Resource(Kind("autoscaling", "v2", "HorizontalPodAutoscaler"), "horizontalpodautoscalers", True),
    Resource(Kind("", "v1", "Namespace"), "namespaces", False),
]


@pytest.mark.parametrize("resource", DISPENSABLE, ids=lambda resource: resource.plural)
@in_virtual_time
async def test_a_kind_whose_lists_fail_keeps_nobody_from_the_others(resource: Resource) -> None:
    """As while the conversion webhook of a definition is away: an operator that started then looked after nothing at all."""
    world = Watched(OperatorOptions())
    world.cluster.serve(resource)
    world.cluster.fail(lambda one: one.verb in ("list", "watch") and one.resource.plural == resource.plural, FAILS, times=-1)
    async with at_work(world):
        await asyncio.sleep(10.0)
        assert world.health().state is OperatorState.STARTING
        await asyncio.sleep(30.0)
        assert (world.health().state, world.health().is_ready) == (OperatorState.LEADING, True)
        name = resource.kind.group_kind
        assert unreadable(world.operator) == {name: f"{name} cannot be listed: conversion webhook failed"}
        await world.declare(1, 1)
        assert len(world.of(POD)) == 2
        world.cluster.faults.clear()
        await asyncio.sleep(60.0)
        assert unreadable(world.operator) == {}


@in_virtual_time
async def test_a_list_that_takes_long_is_waited_for_also_where_another_one_fails() -> None:
    """A hundred thousand pods, say: an operator that was ready without them would end the one that knows them."""
    world = Watched()
    world.cluster.serve(DISPENSABLE[0])
    world.cluster.fail(lambda one: one.verb in ("list", "watch") and one.resource.plural == DISPENSABLE[0].plural, FAILS, times=-1)
    world.cluster.before = slow
    async with at_work(world):
        await asyncio.sleep(SLOW - 1.0)
        assert (world.health().state, world.health().is_ready) == (OperatorState.STARTING, False)
        await asyncio.sleep(5.0)
        assert (world.health().state, [*unreadable(world.operator)]) == (OperatorState.LEADING, [DISPENSABLE[0].kind.group_kind])


SLOW = 75.0


async def slow(request: MemoryRequest) -> None:
    if request.verb in ("list", "watch") and request.resource.plural == "pods":
        await asyncio.sleep(SLOW)


@pytest.mark.parametrize(("plural", "kind"), [("podcliques", "PodClique.grove.io"), ("services", "Service")])
@in_virtual_time
async def test_a_set_that_needs_a_kind_whose_lists_fail_is_told(plural: str, kind: str) -> None:
    """Also where it is only written, and no step asks for it: each worker waited for the list, until none was left."""
    world = Watched()
    world.cluster.fail(lambda one: one.verb in ("list", "watch") and one.resource.plural == plural, FAILS, times=-1)
    async with at_work(world):
        await asyncio.sleep(60.0)
        await world.declare(1, 1)
        await asyncio.sleep(15.0)
        assert world.operator.loop.queue.active() == 0
        [pcs] = world.of(SET)
        [stalled] = [one for one in pcs["status"]["conditions"] if one["type"] == "Stalled"]
        assert f"{kind} cannot be listed: conversion webhook failed" in stalled["message"]
        assert world.of(POD) == []
        world.cluster.faults.clear()
        await asyncio.sleep(45.0)  # the list is tried again within half a minute, and the set at once then
        assert len(world.of(POD)) == 2


@in_virtual_time
async def test_a_topology_whose_own_kind_cannot_be_listed_is_held_and_made_soon_after() -> None:
    """It has no status, and cannot be looked at: the error of a question that nobody could answer counted as a fault of ours."""
    results: list[Result[Key]] = []
    world, context = Watched(), StepContext(shipped_program(), settings_of("1.35"), Document(LEVELS))
    world.operator = Operator(world.cluster, context, world.clock, OperatorOptions(on_result=results.append))
    world.health = HealthCheck(world.operator)
    world.cluster.fail(lambda one: one.verb in ("list", "watch") and one.resource.plural == "clustertopologies", FAILS, times=-1)
    async with at_work(world):
        await asyncio.sleep(300.0)
        held = {(result.held, result.error) for result in results if result.key.kind == "ClusterTopology"}
        assert held == {("ClusterTopology.grove.io cannot be listed: conversion webhook failed", None)}
        world.cluster.faults.clear()
        await asyncio.sleep(40.0)
        assert [one["metadata"]["name"] for one in world.cluster.store.of("grove.io", "ClusterTopology", "")] == ["grove-topology"]


LEVELS = {
    "apiVersion": "operator.config.grove.io/v1alpha1",
    "kind": "OperatorConfiguration",
    "topologyAwareScheduling": {"enabled": True, "levels": [{"domain": "zone", "key": "topology.kubernetes.io/zone"}]},
}


@in_virtual_time
async def test_a_server_that_fails_for_all_kinds_is_waited_for() -> None:
    world = Watched()
    world.cluster.fail(lambda one: one.verb in ("list", "watch"), FAILS, times=-1)
    async with at_work(world):
        await asyncio.sleep(300.0)
        world.cluster.faults.clear()
        await asyncio.sleep(60.0)
        assert world.health().state is OperatorState.LEADING
        await world.declare(1, 1)
        assert len(world.of(POD)) == 2


async def hangs(request: MemoryRequest) -> None:
    """Stands for a write that is never answered and never given up, as only a fault of ours can be."""
    if request.verb == "create" and request.resource.plural == "pods":
        await asyncio.sleep(10_000.0)


@in_virtual_time
async def test_it_is_stuck_when_keys_wait_and_no_look_ends() -> None:
    world = Watched()
    world.cluster.before = hangs
    async with at_work(world):
        await world.declare(40, 1, quiet=1.0)
        assert world.health().state is OperatorState.LEADING
        await asyncio.sleep(200.0)
        assert world.health().state is OperatorState.LEADING
        await asyncio.sleep(400.0)
        assert world.health().state is OperatorState.STUCK
        assert not world.health().is_alive


@in_virtual_time
async def test_an_operator_that_has_nothing_to_do_is_not_stuck() -> None:
    async with at_work(Watched()) as world:
        await world.declare(1, 1)
        world.health()
        await asyncio.sleep(3000.0)
        assert world.health().state is OperatorState.LEADING


@pytest.mark.parametrize(
    ("state", "alive", "ready"), [("starting", 200, 503), ("standby", 200, 200), ("leading", 200, 200), ("stuck", 503, 503)]
)
async def test_probes_answer_with_the_state_in_words(state: str, alive: int, ready: int) -> None:
    listener = health_listener(lambda: Health(OperatorState(state), f"{state}: so it is"))
    port = await listener.start("127.0.0.1", 0)
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
            for path, code in (("/healthz", alive), ("/readyz", ready)):
                async with session.get(path) as answer:
                    assert (answer.status, await answer.text()) == (code, f"{state}: so it is\n")
    finally:
        await listener.stop()


@pytest.mark.parametrize(("accept", "form"), [("text/plain", "text/plain"), ("application/openmetrics-text; version=1.0.0", "openmetrics")])
async def test_metrics_come_in_the_form_that_is_asked_for(accept: str, form: str) -> None:
    listener = metrics_listener(Watched().metrics.registry)
    port = await listener.start("127.0.0.1", 0)
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept}) as answer,
        ):
            assert form in answer.headers["Content-Type"]
            assert "grove_operator_build_info{" in await answer.text()
    finally:
        await listener.stop()
