"""Tells apart an operator that starts, stands by, leads, and is stuck."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import NamedTuple

from applier.errors import Forbidden
from grove_operator.controller.operator import Operator

STUCK_AFTER = 300.0
"""Seconds in which no look at a key ended although some wait. A request is given up after two minutes at most, and a key whose write fails
is put off, so that a server which is away stops nobody's work for that long."""


class State(StrEnum):
    """What an operator does now. One that is stuck is to be started anew; the others are alive, and ready unless they still start."""

    STARTING = "starting"
    STANDBY = "standby"
    LEADING = "leading"
    STUCK = "stuck"


class Health(NamedTuple):
    """A state, and one line about it for people."""

    state: State
    words: str

    @property
    def is_alive(self) -> bool:
        return self.state is not State.STUCK

    @property
    def is_ready(self) -> bool:
        return self.state in (State.STANDBY, State.LEADING)


class HealthCheck:
    """Looks at an operator. Times are the event loop's; `stuck_after` is in seconds."""

    def __init__(self, operator: Operator, stuck_after: float = STUCK_AFTER) -> None:
        self._operator, self._stuck_after = operator, stuck_after
        self._done, self._since = -1, 0.0

    def __call__(self) -> Health:
        """Returns how it is now."""
        waits = (source for source in self._operator.cache.sources() if not source.complete and not isinstance(source.error, Forbidden))
        unknown = [source.query.kind.group_kind for source in waits]
        if unknown or not self._operator.cache.sources():
            return Health(State.STARTING, f"starting: {', '.join(sorted(unknown)) or 'the cluster'} not listed yet")
        lease = self._operator.loop.lease
        if lease is not None and not lease.held.is_set():
            self._done = -1  # who stands by has nothing to do
            why = f": {lease.error}" if lease.error else ""
            return Health(State.STANDBY, f"standby: another one leads, or nobody yet{why}")
        if (idle := self._idle()) > self._stuck_after:
            queue = self._operator.loop.queue
            return Health(
                State.STUCK, f"stuck: no look has ended for {idle:.0f} s, {queue.depth()} keys wait, {queue.active()} are in work"
            )
        return Health(State.LEADING, "leading")

    def _idle(self) -> float:
        """For how long no look has ended although there is work."""
        queue, now = self._operator.loop.queue, asyncio.get_running_loop().time()
        if queue.counts.done != self._done or not (queue.depth() or queue.active()):
            self._done, self._since = queue.counts.done, now
        return now - self._since
