"""Decides how often and for how long a request is retried."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from applier.backoff import Backoff
from applier.errors import ApiError, ClusterError, ServerFailure, TooManyRequests, Unreachable
from applier.ref import Ref

FAILURE_TRIES = 4  # a server that fails (500) on an object mostly fails on it again; 502 to 504 are temporary
WEBHOOK_TRIES = 2  # a webhook that fails mostly keeps failing, and each try may take ten seconds
FIRST_CONTACT_TRIES = 2  # a server that has never answered is more likely a wrong address than a restart


class ApiRequest(NamedTuple):
    """Describes a request to the API. `idempotent` ones may be retried; `sent` is the object or patch, to hide its secrets in errors."""

    verb: str
    plural: str
    ref: Ref | None = None
    idempotent: bool = True
    sent: Any = None


@dataclass(slots=True, eq=False)
class Retries:
    """Configures retries, with times in seconds.

    `timeout` limits one try, `deadline` all tries of a request; the back-off grows from `first` to `longest`. `stall` is how long a watch
    may be silent: servers send a bookmark every minute, so that a longer silence means a dead connection.
    """

    tries: int = 8
    timeout: float = 60.0
    connect: float = 10.0
    deadline: float = 120.0
    first: float = 0.1
    longest: float = 10.0
    stall: float = 90.0

    @classmethod
    def within(cls, seconds: float) -> Retries:
        """Returns the configuration for requests that may take so many seconds, including their retries."""
        default = cls()
        return replace(default, timeout=seconds, deadline=seconds, connect=min(seconds, default.connect))


@dataclass(slots=True, eq=False)
class RetryBudget:
    """Limits the retries of all requests of a cluster by a token bucket, so that a dead server is not flooded.

    `left` retries are available now; `per_second` are added, up to `most`. `throttled_since` is when the server began to throttle every
    request; None once it has accepted one.
    """

    most: float = 200.0
    per_second: float = 10.0
    now: Callable[[], float] = time.monotonic
    left: float = field(init=False)
    updated: float = field(init=False)
    throttled_since: float | None = None

    def __post_init__(self) -> None:
        self.left, self.updated = self.most, self.now()

    def note_throttled(self) -> float:
        """Records a 429. Returns for how many seconds the server has answered nothing else."""
        now = self.now()
        if self.throttled_since is None:
            self.throttled_since = now
        return now - self.throttled_since

    def note_accepted(self) -> None:
        """Records that the server accepted a request."""
        self.throttled_since = None

    def take(self) -> bool:
        """Takes one retry from the budget; returns False if there is none left."""
        now = self.now()
        self.left = min(self.most, self.left + (now - self.updated) * self.per_second)
        self.updated = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


@dataclass(slots=True, eq=False)
class Tries:
    """Tracks the tries of one request. `unsure` means that an earlier try may have been carried out although no answer came.

    `known`: the server has answered a request before, so that its address is right.
    """

    retries: Retries
    budget: RetryBudget
    idempotent: bool
    known: bool = True
    now: Callable[[], float] = time.monotonic
    count: int = 1
    failures: int = 0
    unsure: bool = False
    started: float = field(init=False)
    backoff: Backoff = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.now()
        self.backoff = Backoff(self.retries.first, self.retries.longest)

    def pause(self, error: ClusterError) -> float | None:
        """Returns how many seconds to wait before the next try; None if there is none.

        A server that throttles (429) is alive, so this takes nothing from the budget. If it throttles every request for a whole deadline,
        all requests give up: otherwise 100 objects, written one by one as the limit falls, would wait for hours. (kubectl tries ten times
        for each object.)
        """
        throttled_for = self.budget.note_throttled() if isinstance(error, TooManyRequests) else 0.0
        if not self._may_retry(error):
            return None
        pause = self.backoff.next()
        if isinstance(error, ApiError) and error.retry_after is not None:
            pause = error.retry_after + random.uniform(0, self.retries.first)
        if max(self.now() - self.started, throttled_for) + pause > self.retries.deadline:
            return None
        if not isinstance(error, TooManyRequests) and not self.budget.take():
            return None
        self.count += 1
        return pause

    def _may_retry(self, error: ClusterError) -> bool:
        if isinstance(error, TooManyRequests):
            return True
        if isinstance(error, Unreachable):
            most = self.retries.tries if self.known else FIRST_CONTACT_TRIES
            self.unsure = self.unsure or error.maybe_done
            return error.passing and self.count < most and (self.idempotent or not error.maybe_done)
        if isinstance(error, ServerFailure):
            self.unsure = True
            return self.idempotent and error.status != 501 and self.count < self.retries.tries and not self._is_persistent(error)
        return False

    def _is_persistent(self, error: ServerFailure) -> bool:
        """Counts a failure inside the server; reports whether this request has failed so often that retries are futile."""
        if error.status != 500:
            return False
        self.failures += 1
        return self.failures >= (WEBHOOK_TRIES if "webhook" in error.message else FAILURE_TRIES)
