"""Determines the health of an operator: starting, standing by, leading, or stuck; and the permissions that it lacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from applier.cache import WatchCache
from applier.errors import Forbidden
from applier.loop import Result
from grove_compiler.step import Key
from grove_operator.controller.operator import Operator

STUCK_AFTER = 300.0
"""Seconds without a finished reconciliation while keys are queued. A request times out after two minutes, and a key whose write fails is
retried with backoff, so that an unreachable server alone does not block the queue for that long."""


class OperatorState(StrEnum):
    """The state of an operator. A stuck one has to be restarted; the others are alive, and all but a starting one are ready."""

    STARTING = "starting"
    STANDBY = "standby"
    LEADING = "leading"
    STUCK = "stuck"


class Health(NamedTuple):
    """A state, and a message of one line about it. `awaited` is what it waits for before others may rely on it; empty for nothing."""

    state: OperatorState
    message: str
    awaited: str = ""

    @property
    def is_alive(self) -> bool:
        return self.state is not OperatorState.STUCK

    @property
    def is_ready(self) -> bool:
        return self.state in (OperatorState.STANDBY, OperatorState.LEADING) and not self.awaited


class HealthCheck:
    """Checks an operator. `awaited` is what else of its process is not ready yet.

    A replica whose webhooks do not listen is not ready, or API servers would ask it, and a roll-out would end those that do.
    """

    def __init__(self, operator: Operator, awaited: Callable[[], str] = str) -> None:
        self._operator, self._awaited = operator, awaited
        self._done, self._since = -1, 0.0

    def __call__(self) -> Health:
        """Returns the current health."""
        health, awaited = self._of_operator(), self._awaited()
        return health._replace(message=f"{health.message}; {awaited}", awaited=awaited) if awaited else health

    def _of_operator(self) -> Health:
        if not self._operator.loop.has_begun:
            sources = (
                source for source in self._operator.cache.sources() if not source.complete and not isinstance(source.error, Forbidden)
            )
            pending = sorted(source.query.kind.group_kind for source in sources)
            return Health(OperatorState.STARTING, f"starting: {', '.join(pending) or 'the cluster'} not listed yet")
        lease = self._operator.loop.lease
        if lease is not None and not lease.held.is_set():
            self._done = -1  # a standby reconciles nothing
            reason = f": {lease.error}" if lease.error else ""
            return Health(OperatorState.STANDBY, f"standby: another replica leads, or none yet{reason}")
        if (idle := self._idle()) > STUCK_AFTER:
            queue = self._operator.loop.queue
            return Health(
                OperatorState.STUCK,
                f"stuck: no reconcile has finished for {idle:.0f} s, {queue.depth()} keys queued, {queue.active()} active",
            )
        return Health(OperatorState.LEADING, "leading")

    def _idle(self) -> float:
        """Returns for how many seconds no reconciliation has ended although keys are queued."""
        queue, now = self._operator.loop.queue, asyncio.get_running_loop().time()
        if queue.ended != self._done or not (queue.depth() or queue.active()):
            self._done, self._since = queue.ended, now
        return now - self._since


Right = tuple[str, str]
"""A verb, and a resource with its group: `list`, `podgangs.scheduler.grove.io`."""


class MissingRights:
    """Tracks missing permissions by key, until a reconciliation of the key lacks none."""

    def __init__(self) -> None:
        self._by_key: dict[Key, dict[Right, str]] = {}

    def result(self, result: Result[Key]) -> None:
        """Records the permissions that a reconciliation lacked."""
        refused = dict(_missing([result.error, *(outcome.error for outcome in result.outcomes)]))
        if refused:
            self._by_key[result.key] = refused
        else:
            self._by_key.pop(result.key, None)

    def now(self, cache: WatchCache) -> dict[Right, str]:
        """Returns the missing permissions, each with the server's message, which names the rule that would grant it."""
        missing = dict(_missing(cache.forbidden()))
        for refused in self._by_key.values():
            missing |= refused
        return missing


def unreadable(operator: Operator) -> dict[str, str]:
    """Returns the kinds that an operator at work cannot read, each with the reason; that a right is missing is told otherwise."""
    sources = (source for source in operator.cache.sources() if operator.loop.has_begun and not isinstance(source.error, Forbidden))
    return {source.query.kind.group_kind: source.staleness() for source in sources if source.is_refused or not source.complete}


def _missing(errors: list[Exception | None] | list[Forbidden]) -> Iterator[tuple[Right, str]]:
    for error in errors:
        if isinstance(error, Forbidden) and error.missing[0]:
            yield error.missing, str(error)
