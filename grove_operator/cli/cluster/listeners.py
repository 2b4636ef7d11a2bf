"""Who listens to a run besides people: a journal on disk, and OpenTelemetry where it is set up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from applier.events import Sink
from grove_operator.cli.cluster.session import say

TELEMETRY = "OTEL_"
"""How the environment variables begin that set up OpenTelemetry. Without any, it is not even loaded."""


@contextmanager
def listening(sink: Sink, journal: str | None, name: str) -> Iterator[Sink]:
    """Gives a sink that hands events on to this one, to the journal of this path if there is one, and to OpenTelemetry.

    `name` is what a run is called there. What was heard is written when it is left. Raises `OSError` for a journal that cannot be opened.
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
    from grove_operator.cli.cluster.lines import to_all

    with Journal(Path(path)) as journal:
        yield to_all(sink, journal)
    if journal.lost:
        why = journal.error.strerror if journal.error else ""
        say(f"{path}: {journal.lost} lines of the journal could not be written: {(why or 'unknown').lower()}")


@contextmanager
def _traces(sink: Sink, name: str) -> Iterator[Sink]:
    if not any(variable.startswith(TELEMETRY) for variable in os.environ):
        yield sink
        return
    from applier.observability import traces_if_installed
    from grove_operator.cli.cluster.lines import to_all

    traces = traces_if_installed(name)
    try:
        yield to_all(sink, traces)
    finally:
        _send()


def _send() -> None:
    """Sends the spans: the program ends without what Python would do at its end."""
    try:
        from opentelemetry import trace
    except ImportError:
        return
    flush = getattr(trace.get_tracer_provider(), "force_flush", None)  # only the SDK's has it
    if flush is not None:
        flush()
