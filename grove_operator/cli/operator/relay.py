"""Hands events on to listeners that come later than the connection whose events they are."""

from __future__ import annotations

from applier.events import Event, Sink


class Relay:
    """Is a `Sink`. `listeners` may be added at any time."""

    def __init__(self) -> None:
        self.listeners: list[Sink] = []

    def __call__(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)
