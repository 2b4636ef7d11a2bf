"""Forwards the events of a connection to listeners that are created after it."""

from __future__ import annotations

from applier.events import Event, Sink


class Relay:
    """A `Sink` whose `listeners` may be added at any time."""

    def __init__(self) -> None:
        self.listeners: list[Sink] = []

    def __call__(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)
