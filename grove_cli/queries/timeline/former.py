"""Computes when pods ran that no longer exist: for jobs from the attempts in the status, for services from events about pods."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from applier.ref import Manifest, uid_of
from grove_cli.queries.timeline.events import time_of
from grove_cli.queries.timeline.objects import TimelineObjects
from grove_cli.queries.timeline.span import Span, number_in
from grove_cli.queries.times import time_in
from grove_compiler.labels import REPLICA_LABEL
from grove_compiler.model import names
from grove_compiler.model.names import replica_of
from kube_objects.manifest import labels_of, mapping, maps

TAKEN_NAMES = 4
"""Candidates for the name of a deleted pod by index; other than the first only if that was taken."""
FORMER_INDICES = 64
"""Indices that are tried for a deleted pod of a service: its PodClique may have been larger, or may be gone."""


def of_attempts(of: TimelineObjects) -> Iterator[Span]:
    """Yields the ranks of ended attempts: all of them ran from its start to its end, and one of them failed first."""
    previous_end: dict[int, float] = {}
    for attempt in maps(mapping(of.set.get("status")).get("attempts")):
        began, ended = time_in(attempt.get("startTime")), time_in(attempt.get("endTime"))
        replica, number = number_in(attempt.get("replica"), 0), number_in(attempt.get("attempt"), 1)
        made = previous_end.get(replica, began if began is not None else ended)
        if ended is None or made is None:
            continue
        previous_end[replica] = ended
        for clique in (each for each in of.parts["PodClique"] if number_in(labels_of(each).get(REPLICA_LABEL), 0) == replica):
            name, size = clique["metadata"]["name"], number_in(mapping(clique.get("spec")).get("replicas"), 0)
            failed = _index(name, size, str(attempt.get("pod") or ""), number) if attempt.get("podClique") == name else None
            for index in range(size):
                state = "Failed" if index == failed else "Succeeded" if attempt.get("cause") == "Succeeded" else "Ended"
                begin = min(made, ended)
                yield Span(name, index, replica, number, begin, begin, began, ended, state, str(attempt.get("cause")))


def of_events(of: TimelineObjects) -> Iterator[Span]:
    """Yields the former pods of a service that events tell of: when each was scheduled, started and killed.

    One that nobody has told to start ran since it was scheduled, as far as is known.
    """
    existing = {uid_of(pod) for pod in of.parts["Pod"]}
    by_pod: dict[tuple[str, str], list[Manifest]] = defaultdict(list)
    for event in of.events:
        about = event["involvedObject"]
        if about.get("kind") == "Pod" and about.get("uid") not in existing:
            by_pod[str(about.get("name")), str(about.get("uid") or "")].append(event)
    for (name, _), events in by_pod.items():
        times = {str(event.get("reason")): at for event in events if (at := time_of(event)) is not None}
        clique = name.rpartition("-")[0]
        index = _index(clique, FORMER_INDICES, name, 1)
        if times and index is not None:
            made, began = min(times.values()), times.get("Started", times.get("Scheduled"))
            replica = replica_of(name, of.name) or 0
            yield Span(clique, index, replica, 1, made, made, began, times.get("Killing"), "Ended", name)


def _index(clique: str, size: int, pod: str, attempt: int) -> int | None:
    """Returns the index of a deleted pod, derived from its name."""
    return next((index for index in range(size) if pod in (*_candidates(clique, index, attempt), f"{clique}-{index}")), None)


def _candidates(clique: str, index: int, attempt: int) -> Iterable[str]:
    taken: list[str] = []
    while len(taken) < TAKEN_NAMES:
        taken.append(names.pod(clique, index, taken.__contains__, attempt))
    return taken
