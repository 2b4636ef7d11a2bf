"""Defines the events of a run, from its plan to its end, as typed values for progress, journal, metrics and traces."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from applier.cluster import Cluster
from applier.outcome import Action, Outcome, Step
from applier.ref import Ref


class Planned(NamedTuple):
    """Reports that a plan is made: how many objects for each action, and in how many waves."""

    counts: Mapping[Action, int]
    waves: int


class WaveStarted(NamedTuple):
    """Reports that a wave begins and all waves before it are settled. `number` starts at 0."""

    number: int
    objects: int


class Started(NamedTuple):
    """Reports that an object is being written."""

    step: Step


class Finished(NamedTuple):
    """Reports that an object is settled, whether it succeeded or not."""

    outcome: Outcome


class Waiting(NamedTuple):
    """Reports that an object is not ready and why, again whenever the reason changes."""

    ref: Ref
    reason: str


class Ready(NamedTuple):
    """Reports that an object meets its readiness rule. `reason` explains it, or is empty."""

    ref: Ref
    seconds: float
    reason: str = ""


class Throttled(NamedTuple):
    """Reports that the server asked us to slow down: the next try is in `seconds`, with at most `in_flight` writes at once from now on."""

    seconds: float
    in_flight: int


class Adapted(NamedTuple):
    """Reports a new limit of writes in flight; under the old one, the server carried out `per_second`."""

    in_flight: int
    per_second: float


class Retried(NamedTuple):
    """Reports that a request is retried. `why` is one line."""

    ref: Ref | None
    attempt: int
    why: str


class RunEnded(NamedTuple):
    """Reports the end of a run: the number of objects by action, its seconds and its requests."""

    counts: Mapping[Action, int]
    seconds: float
    requests: int


Event = Planned | WaveStarted | Started | Finished | Waiting | Ready | Throttled | Adapted | Retried | RunEnded
Sink = Callable[[Event], None]
"""Receives events as they happen. It must not block and must not raise."""


def nowhere(event: Event) -> None:
    """Drops events; the sink of callers that do not listen."""


Requests = Counter[tuple[str, str]]


def requests_of(cluster: Cluster) -> Requests:
    """Returns how many requests a cluster has sent so far, by verb and plural; empty for a cluster that does not count them."""
    return Counter(getattr(cluster, "requests", {}))


class RunMeter:
    """Measures a run from its construction on. `requests` and `seconds` are those of the run, once it is closed."""

    def __init__(self, cluster: Cluster, sink: Sink) -> None:
        self.cluster, self.sink = cluster, sink
        self.requests: Requests = Counter()
        self.seconds = 0.0
        self._began, self._before = time.monotonic(), requests_of(cluster)

    def planned(self, counts: Mapping[Action, int], waves: int) -> None:
        """Emits the plan."""
        self.sink(Planned(counts, waves))

    def closed(self, outcomes: Iterable[Outcome]) -> None:
        """Emits the end of the run, with its counts."""
        self.requests = requests_of(self.cluster) - self._before
        self.seconds = time.monotonic() - self._began
        self.sink(RunEnded(Counter(outcome.action for outcome in outcomes), self.seconds, self.requests.total()))
