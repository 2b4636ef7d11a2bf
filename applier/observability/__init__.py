"""Exports the events of a run as a journal on disk, metrics and traces. Each exporter is a `Sink`, and imported only where it is used."""

from __future__ import annotations

from applier.events import Sink, nowhere


def traces_if_installed(name: str = "apply") -> Sink:
    """Returns a sink that creates OpenTelemetry spans if `opentelemetry-api` is installed, and drops events otherwise.

    `name` is that of the span of a run.
    """
    try:
        from applier.observability.traces import Traces
    except ImportError:
        return nowhere
    return Traces(name=name)
