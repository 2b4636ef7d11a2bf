"""Selects the events that tell the history of a set."""

from __future__ import annotations

from collections.abc import Iterable

from applier.ref import Manifest
from grove_cli.queries.times import time_in

OF_PODS = ("Preempted", "Evicted", "TaintManagerEviction", "NodeNotReady", "OOMKilling")
"""Reasons of events about pods that belong to the history of a set; most others only say how a pod starts."""


def time_of(event: Manifest) -> float | None:
    """Returns when an event happened last."""
    metadata = event["metadata"]
    candidates = (event.get("lastTimestamp"), event.get("eventTime"), event.get("firstTimestamp"), metadata.get("creationTimestamp"))
    return next((at for each in candidates if (at := time_in(each)) is not None), None)


def told(events: Iterable[Manifest]) -> list[Manifest]:
    """Returns the events that are entries of the history: those about pods only where they say why one was taken away."""
    return [event for event in events if event["involvedObject"].get("kind") != "Pod" or event.get("reason") in OF_PODS]
