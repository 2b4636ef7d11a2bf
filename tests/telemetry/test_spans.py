"""Spans: one for each look, and below it one for each object that is written; they reach a collector."""

from __future__ import annotations

import asyncio

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from applier.errors import Invalid
from applier.testing.virtual_time import in_virtual_time
from grove_operator.controller.operator import OperatorOptions
from grove_operator.telemetry.server import Listener
from grove_operator.telemetry.spans import Spans, exporting

from .conftest import Watched, at_work


def traced() -> tuple[Watched, InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans = Spans(provider.get_tracer("test"))
    return Watched(OperatorOptions(namespace="default", sink=spans, on_evaluate=spans.start, on_result=spans.result)), exporter


@in_virtual_time
async def test_what_is_written_stands_below_the_look_that_decided_it() -> None:
    world, exporter = traced()
    async with at_work(world):
        await world.declare(2, 1)
    spans = exporter.get_finished_spans()
    looks = {one.context.span_id: one for one in spans if one.name.startswith("reconcile") and one.context}
    pods = [one for one in spans if one.name == "created Pod"]
    assert len(pods) == 4
    parents = [looks[one.parent.span_id] for one in pods if one.parent]
    assert sorted(str(dict(one.attributes or {})["grove.key.replica"]) for one in parents) == ["0", "0", "1", "1"]
    assert {one.name for one in looks.values()} == {"reconcile podcliqueset", "reconcile podcliqueset-replica"}


@in_virtual_time
async def test_a_look_that_left_something_undone_is_an_error() -> None:
    world, exporter = traced()
    world.cluster.fail(lambda one: one.verb == "create" and one.resource.plural == "pods", Invalid(422, "Invalid", "no"), times=-1)
    async with at_work(world):
        await world.declare(1, 1)
    failed = {one.name for one in exporter.get_finished_spans() if not one.status.is_ok}
    assert {"created Pod", "reconcile podcliqueset-replica"} <= failed


async def test_spans_reach_a_collector() -> None:
    bodies: list[bytes] = []

    async def take(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return web.Response(headers={"Content-Type": "application/x-protobuf"})

    collector = Listener(web.post("/v1/traces", take))
    port = await collector.start("127.0.0.1", 0)
    try:
        spans, shutdown = exporting(f"http://127.0.0.1:{port}", 1_000_000, "1.2.3")
        spans._tracer.start_span("reconcile podcliqueset").end()
        await asyncio.to_thread(shutdown)
    finally:
        await collector.stop()
    import gzip

    text = gzip.decompress(bodies[0]) if bodies[0][:2] == b"\x1f\x8b" else bodies[0]
    sent = ExportTraceServiceRequest.FromString(text).resource_spans[0]
    assert [one.name for one in sent.scope_spans[0].spans] == ["reconcile podcliqueset"]
    assert {one.key: one.value.string_value for one in sent.resource.attributes}["service.name"] == "grove-operator"
