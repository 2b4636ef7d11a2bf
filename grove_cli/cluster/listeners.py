"""Attaches a journal, OpenTelemetry and other listeners to the events of a run or a connection."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from applier.events import Event, Sink
from grove_cli.cluster.session import say

TELEMETRY = "OTEL_"
"""The prefix of OpenTelemetry's environment variables. Without any of them it is not imported."""


@contextmanager
def listening(sink: Sink, journal: str | None, name: str) -> Iterator[Sink]:
    """Yields a sink that forwards events to `sink`, to the journal at a path if any, and to OpenTelemetry, where the run is called `name`.

    Events are flushed at the exit. Raises `OSError` for a journal that cannot be opened.
    """
    with _journal(sink, journal) as both, _traces(both, name) as all_of_them:
        yield all_of_them


@contextmanager
def _journal(sink: Sink, path: str | None) -> Iterator[Sink]:
    if not path:
        yield sink
        return
    from pathlib import Path  # only with a journal

    from applier.observability.journal import Journal

    with Journal(Path(path)) as journal:
        yield Relay(sink, journal)
    if journal.lost:
        why = journal.error.strerror if journal.error else ""
        say(f"{path}: {journal.lost} lines of the journal could not be written: {(why or 'unknown').lower()}")


@contextmanager
def _traces(sink: Sink, name: str) -> Iterator[Sink]:
    if not any(variable.startswith(TELEMETRY) for variable in os.environ):
        yield sink
        return
    from applier.observability import traces_if_installed

    traces = traces_if_installed(name)
    try:
        yield Relay(sink, traces)
    finally:
        _send()


def _send() -> None:
    """Exports the spans: the program exits without running exit handlers, which would do so."""
    try:
        from opentelemetry import trace
    except ImportError:
        return
    flush = getattr(trace.get_tracer_provider(), "force_flush", None)  # only the SDK's has it
    if flush is not None:
        flush()


class Relay:
    """A `Sink` that forwards events to its `listeners`, which may be added at any time."""

    def __init__(self, *listeners: Sink) -> None:
        self.listeners = [*listeners]

    def __call__(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)
