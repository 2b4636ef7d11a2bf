"""What a request is about, how long and how often it is tried, and when that ends."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from applier.backoff import Backoff
from applier.errors import ApiError, ClusterError, ServerFailure, TooManyRequests, Unreachable
from applier.ref import Ref

FAILURE_TRIES = 4  # a server that fails (500) on one object mostly fails on it again; 502 to 504 pass
WEBHOOK_TRIES = 2  # a webhook that fails mostly keeps failing, and each try may take it ten seconds
FIRST_CONTACT_TRIES = 2  # a server that has never answered is more likely a wrong address than a restart


class ApiRequest(NamedTuple):
    """A request in the API's words. `harmless`: doing it twice is as good as once. `sent`: the object or patch, to keep its secrets."""

    verb: str
    plural: str
    ref: Ref | None = None
    harmless: bool = True
    sent: Any = None


@dataclass(slots=True, eq=False)
class Retries:
    """All times in seconds. `timeout` is for one try, `deadline` for all tries of a request; waits grow from `first` to `longest`.

    `stall` is how long a watch may be silent. Servers send a bookmark every minute, so that silence of more than that means a dead
    connection.
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
        """Makes those for requests each of which, with all its tries, has so much time."""
        usual = cls()
        return replace(usual, timeout=seconds, deadline=seconds, connect=min(seconds, usual.connect))


@dataclass(slots=True, eq=False)
class RetryBudget:
    """What all requests of a cluster may spend on repeating, so that a dead server is not hammered.

    `left` tries are there at once; `per_second` more come back as time goes by, up to `most`. `busy_since` is when the server began to
    refuse everything for haste; None while it takes something.
    """

    most: float = 200.0
    per_second: float = 10.0
    now: Callable[[], float] = time.monotonic
    left: float = field(init=False)
    asked: float = field(init=False)
    busy_since: float | None = None

    def __post_init__(self) -> None:
        self.left, self.asked = self.most, self.now()

    def refused_for_haste(self) -> float:
        """Notes a 429. Returns for how many seconds there has been nothing else."""
        now = self.now()
        if self.busy_since is None:
            self.busy_since = now
        return now - self.busy_since

    def answered(self) -> None:
        """Notes that the server took a request."""
        self.busy_since = None

    def take(self) -> bool:
        """Tells whether one more try may be made."""
        now = self.now()
        self.left = min(self.most, self.left + (now - self.asked) * self.per_second)
        self.asked = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


@dataclass(slots=True, eq=False)
class Tries:
    """The tries of one request. `harmless` says that doing it twice does no harm; `unsure` that an earlier try may have been done."""

    retries: Retries
    budget: RetryBudget
    harmless: bool
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
        """Returns how many seconds to wait before the next try; None when there is to be none.

        A server that says when to come back (429) is alive and costs nothing of the budget. One that says nothing else for as long as one
        request may take says so to all of them: 100 objects, one after another since it asks for less, would else wait for hours. (kubectl
        gives each object ten tries.)
        """
        hasty = self.budget.refused_for_haste() if isinstance(error, TooManyRequests) else 0.0
        if not self._may_repeat(error):
            return None
        pause = self.backoff.next()
        if isinstance(error, ApiError) and error.retry_after is not None:
            pause = error.retry_after + random.uniform(0, self.retries.first)
        if max(self.now() - self.started, hasty) + pause > self.retries.deadline:
            return None
        if not isinstance(error, TooManyRequests) and not self.budget.take():
            return None
        self.count += 1
        return pause

    def _may_repeat(self, error: ClusterError) -> bool:
        if isinstance(error, TooManyRequests):
            return True
        if isinstance(error, Unreachable):
            most = self.retries.tries if self.known else FIRST_CONTACT_TRIES
            self.unsure = self.unsure or error.maybe_done
            return error.passing and self.count < most and (self.harmless or not error.maybe_done)
        if isinstance(error, ServerFailure):
            self.unsure = True
            return self.harmless and error.status != 501 and self.count < self.retries.tries and not self._fails_for_good(error)
        return False

    def _fails_for_good(self, error: ServerFailure) -> bool:
        """Tells whether this request has failed inside of the server so often that it will go on to."""
        if error.status != 500:
            return False
        self.failures += 1
        return self.failures >= (WEBHOOK_TRIES if "webhook" in error.message else FAILURE_TRIES)
