"""Traces reconciliations: a span for each, with a child span for each object that it writes."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Token

from opentelemetry import context, trace
from opentelemetry.trace import Span, Status, StatusCode, Tracer

from applier.events import Event, Finished, Started
from applier.loop import Result
from applier.outcome import UNDONE
from applier.ref import Ref
from grove_compiler.step import Key
from grove_operator.telemetry.vocabulary import controller, write_reason


class Spans:
    """A `Sink`. `start` and `result` are called in the task that reconciles the key, whose context the tasks of its writes inherit."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._reconciles: dict[Key, tuple[Span, Token[context.Context]]] = {}
        self._objects: dict[Ref, Span] = {}

    def start(self, key: Key) -> None:
        """Begins the span of a reconciliation."""
        span = self._tracer.start_span(f"reconcile {controller(key)}")
        span.set_attributes({"k8s.namespace.name": key.namespace, "grove.key.kind": key.kind, "grove.key.name": key.name})
        if key.replica is not None:
            span.set_attribute("grove.key.replica", key.replica)
        self._reconciles[key] = span, context.attach(trace.set_span_in_context(span))

    def result(self, result: Result[Key]) -> None:
        """Ends the span, with the number of failed writes and the reason of a hold."""
        started = self._reconciles.pop(result.key, None)
        if started is None:
            return
        span, token = started
        undone = sum(outcome.action in UNDONE for outcome in result.outcomes)
        span.set_attributes({"grove.outcomes": len(result.outcomes), "grove.undone": undone})
        held = result.held or result.kept
        if held or undone:
            span.set_status(Status(StatusCode.ERROR, held or "incomplete"))
        span.end()
        context.detach(token)

    def __call__(self, event: Event) -> None:
        match event:
            case Started(step):
                ref, span = step.ref, self._tracer.start_span(f"{step.action} {step.ref.kind}")
                span.set_attributes({"k8s.namespace.name": ref.namespace, "k8s.object.kind": ref.kind, "k8s.object.name": ref.name})
                self._objects[ref] = span
            case Finished(outcome):
                write = self._objects.pop(outcome.step.ref, None)
                if write is not None:
                    write.set_attributes({"grove.action": str(outcome.action), "grove.reason": write_reason(outcome)})
                    if outcome.action in UNDONE:
                        write.set_status(Status(StatusCode.ERROR, outcome.reason))
                    write.end()


def exporting(endpoint: str, per_million: int, version: str) -> tuple[Spans, Callable[[], None]]:
    """Returns spans that are exported to a collector (OTLP over HTTP), and the function that flushes them at the end.

    `per_million` is the sampling rate. Raises `ModuleNotFoundError` when the SDK or its exporter is not installed.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

    resource = Resource.create({"service.name": "grove-operator", "service.version": version})
    provider = TracerProvider(sampler=TraceIdRatioBased(per_million / 1_000_000), resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")))
    return Spans(provider.get_tracer("grove_operator", version)), provider.shutdown
