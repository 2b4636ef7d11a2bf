"""What happens during a run, from its plan to its end, as a stream of typed values for progress, journal, metrics and traces."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from applier.cluster import Cluster
from applier.outcome import Action, Outcome, Step
from applier.ref import Ref


class Planned(NamedTuple):
    """A plan is made: how many objects for each action, and in how many waves."""

    counts: Mapping[Action, int]
    waves: int


class WaveStarted(NamedTuple):
    """All before this wave is settled. `number` starts at 0."""

    number: int
    objects: int


class Started(NamedTuple):
    """An object is being written."""

    step: Step


class Finished(NamedTuple):
    """An object is settled, for good or ill."""

    outcome: Outcome


class Waiting(NamedTuple):
    """An object is not ready, and why; again whenever the reason changes."""

    ref: Ref
    reason: str


class Ready(NamedTuple):
    """An object has become what its readiness rule asks for. `reason` is a word about it, if there is one to say."""

    ref: Ref
    seconds: float
    reason: str = ""


class Throttled(NamedTuple):
    """The server asked us to slow down. `seconds` until the next try, `in_flight` writes at once from now on."""

    seconds: float
    in_flight: int


class Adapted(NamedTuple):
    """From now on so many writes are in flight at once; before, the server carried out `per_second`."""

    in_flight: int
    per_second: float


class Retried(NamedTuple):
    """A request is made again. `why` is one line."""

    ref: Ref | None
    attempt: int
    why: str


class RunEnded(NamedTuple):
    """The run is over: how many objects ended as what, in how many seconds, with how many requests."""

    counts: Mapping[Action, int]
    seconds: float
    requests: int


Event = Planned | WaveStarted | Started | Finished | Waiting | Ready | Throttled | Adapted | Retried | RunEnded
Sink = Callable[[Event], None]
"""Takes events as they come. It must not block and must not raise."""


def nowhere(event: Event) -> None:
    """Drops events: a sink for whoever does not listen."""


Requests = Counter[tuple[str, str]]


def requests_of(cluster: Cluster) -> Requests:
    """Returns how many requests a cluster has sent so far, by verb and plural; one that does not count them has sent none."""
    return Counter(getattr(cluster, "requests", {}))


class Account:
    """Begins when it is made. `requests` and `seconds` are those of the run, once it is closed."""

    def __init__(self, cluster: Cluster, sink: Sink) -> None:
        self.cluster, self.sink = cluster, sink
        self.requests: Requests = Counter()
        self.seconds = 0.0
        self._began, self._before = time.monotonic(), requests_of(cluster)

    def planned(self, counts: Mapping[Action, int], waves: int) -> None:
        """Tells what is to be done."""
        self.sink(Planned(counts, waves))

    def closed(self, outcomes: Iterable[Outcome]) -> None:
        """Tells what came of it."""
        self.requests = requests_of(self.cluster) - self._before
        self.seconds = time.monotonic() - self._began
        self.sink(RunEnded(Counter(outcome.action for outcome in outcomes), self.seconds, self.requests.total()))
