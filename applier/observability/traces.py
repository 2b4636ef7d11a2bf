"""Exports runs as OpenTelemetry traces: a span for the run, one for each wave, and one for each object that is written.

Needs `opentelemetry-api`; the program configures the exporter with the SDK.
"""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from applier.events import Event, Finished, Planned, Ready, Retried, RunEnded, Started, Throttled, Waiting, WaveStarted
from applier.outcome import UNDONE, Outcome, Step
from applier.ref import Ref


class Traces:
    """Implements a `Sink` that creates spans, for one run at a time. Objects without a write have no span, but are counted in the run's.

    `name` is that of the span of a run.
    """

    def __init__(self, tracer: Tracer | None = None, name: str = "apply") -> None:
        self._tracer, self._name = tracer or trace.get_tracer("applier"), name
        self._run: Span | None = None
        self._wave: Span | None = None
        self._objects: dict[Ref, Span] = {}

    def __call__(self, event: Event) -> None:
        match event:
            case Planned(counts, waves):
                self.close()
                self._run = self._tracer.start_span(self._name, kind=SpanKind.CLIENT)
                self._run.set_attributes(
                    {"applier.waves": waves, **{f"applier.planned.{action}": count for action, count in counts.items()}}
                )
            case WaveStarted(number, objects):
                self._end_wave()
                self._wave = self._start(f"wave {number}", self._run)
                self._wave.set_attributes({"applier.wave": number, "applier.objects": objects})
            case Started(step):
                self._objects[step.ref] = self._start_object(step)
            case Finished(outcome):
                self._finish(outcome)
            case RunEnded(counts, _, requests):
                if self._run is not None:
                    self._run.set_attributes(
                        {"applier.requests": requests, **{f"applier.{action}": count for action, count in counts.items()}}
                    )
                    if any(counts.get(action) for action in UNDONE):
                        self._run.set_status(Status(StatusCode.ERROR, "incomplete"))
                self.close()
            case Waiting() | Ready() | Throttled() | Retried():
                self._note(event)

    def close(self) -> None:
        """Ends all open spans, for instance after a run that was aborted."""
        for span in self._objects.values():
            span.end()
        self._objects.clear()
        self._end_wave()
        if self._run is not None:
            self._run.end()
            self._run = None

    def _start(self, name: str, parent: Span | None) -> Span:
        return self._tracer.start_span(name, context=trace.set_span_in_context(parent) if parent else None)

    def _start_object(self, step: Step) -> Span:
        span = self._start(f"{step.action} {step.ref.kind}", self._wave or self._run)
        ref = step.ref
        span.set_attributes({"k8s.object.kind": ref.kind, "k8s.object.group": ref.group, "k8s.namespace.name": ref.namespace})
        span.set_attributes({"k8s.object.name": ref.name, "applier.reason": step.reason})
        return span

    def _finish(self, outcome: Outcome) -> None:
        span = self._objects.pop(outcome.step.ref, None)
        if span is None:
            return
        span.set_attributes({"applier.action": str(outcome.action), "k8s.object.uid": outcome.uid})
        if outcome.action in UNDONE:
            span.set_status(Status(StatusCode.ERROR, outcome.reason))
        span.end()

    def _note(self, event: Waiting | Ready | Throttled | Retried) -> None:
        """Adds an event to the span of its object, or else to that of the wave or run."""
        about = event.ref if isinstance(event, Waiting | Ready | Retried) else None
        span = (self._objects.get(about) if about else None) or self._wave or self._run
        if span is not None:
            attributes = {key: str(value) for key, value in event._asdict().items() if value is not None}
            span.add_event(type(event).__name__.lower(), attributes)

    def _end_wave(self) -> None:
        if self._wave is not None:
            self._wave.end()
            self._wave = None
