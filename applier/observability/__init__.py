"""Readers of the events of a run: a journal on disk, metrics, traces. Each is a `Sink`, and imported only by who wants it."""

from __future__ import annotations

from applier.events import Sink, nowhere


def traces_if_installed(name: str = "apply") -> Sink:
    """Returns a sink that makes OpenTelemetry spans where `opentelemetry-api` is installed, and does nothing elsewhere.

    `name` is that of the span of a run.
    """
    try:
        from applier.observability.traces import Traces
    except ImportError:
        return nowhere
    return Traces(name=name)
