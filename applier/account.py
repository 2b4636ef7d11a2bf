"""Time and requests of one run, which is told from its plan to its end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping

from applier.cluster import Cluster
from applier.events import Planned, RunEnded, Sink
from applier.outcome import Action, Outcome

Requests = Counter[tuple[str, str]]


def requests_of(cluster: Cluster) -> Requests:
    """How many requests a cluster has sent so far, by verb and plural; one that does not count them has sent none."""
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
