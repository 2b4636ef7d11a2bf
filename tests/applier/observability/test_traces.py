"""A run is a span, its waves are spans in it, and so is each object that is written."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from applier import observability
from applier.events import Event, nowhere
from applier.observability.traces import Traces

from .conftest import RUN


def spans(events: Sequence[Event]) -> dict[str, ReadableSpan]:
    """The spans of some events, by name."""
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traces = Traces(provider.get_tracer("test"))
    for event in events:
        traces(event)
    traces.close()
    return {span.name: span for span in exporter.get_finished_spans()}


def parent(found: dict[str, ReadableSpan], name: str) -> str:
    above = found[name].parent
    return next((one.name for one in found.values() if above and one.context.span_id == above.span_id), "")


def test_there_is_a_span_for_the_run_each_wave_and_each_write() -> None:
    assert set(spans(RUN)) == {"apply", "wave 0", "wave 1", "created Secret", "configured Deployment"}


@pytest.mark.parametrize(
    ("name", "above"),
    [("apply", ""), ("wave 0", "apply"), ("wave 1", "apply"), ("created Secret", "wave 0"), ("configured Deployment", "wave 1")],
)
def test_spans_lie_in_each_other(name: str, above: str) -> None:
    assert parent(spans(RUN), name) == above


def test_a_failed_object_is_an_error_with_its_reason() -> None:
    status = spans(RUN)["configured Deployment"].status
    assert (status.is_ok, status.description) == (False, "a webhook denied it")


def test_a_run_in_which_something_failed_is_an_error() -> None:
    assert not spans(RUN)["apply"].status.is_ok


def test_a_written_object_is_named_in_its_span() -> None:
    attributes = spans(RUN)["created Secret"].attributes or {}
    assert (attributes["k8s.namespace.name"], attributes["k8s.object.name"], attributes["k8s.object.uid"]) == ("shop", "password", "u2")


def test_retries_are_told_where_they_happened() -> None:
    assert [event.name for event in spans(RUN)["created Secret"].events] == ["retried"]


def test_a_run_that_was_broken_off_is_closed() -> None:
    assert set(spans(RUN[:3])) == {"apply", "wave 0", "created Secret"}


def test_no_value_of_a_field_is_in_a_span() -> None:
    assert "hunter" not in str([(span.attributes, span.events) for span in spans(RUN).values()])


def test_events_without_a_run_do_no_harm() -> None:
    assert "configured Deployment" in spans(RUN[6:])


def test_without_opentelemetry_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "applier.observability.traces")
    assert observability.traces_if_installed() is nowhere


def test_with_opentelemetry_runs_are_traced() -> None:
    assert type(observability.traces_if_installed()).__name__ == "Traces"
