"""Computes when each pod of a set ran: from existing pods, and for former ones from the status of a job, or from events about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from applier.ref import Manifest, uid_of
from grove_cli.queries.events_query import time_in
from grove_cli.queries.timeline.objects import TimelineObjects, time_of
from grove_cli.queries.tree_query import is_training
from grove_compiler.kube.conditions import condition_of
from grove_compiler.labels import ATTEMPT_LABEL, GANG_LABEL, REPLICA_LABEL
from grove_compiler.model import names
from grove_compiler.model.names import replica_of
from grove_compiler.record import record
from kube_objects.manifest import labels_of, mapping, maps


def spans(of: TimelineObjects) -> list[Span]:
    """Returns the spans of all pods by replica, clique, index and attempt."""
    gates = {gang["metadata"]["name"]: _opened(gang) for gang in of.parts["PodGang"]}
    current = [span for pod in of.parts["Pod"] if (span := _of_pod(pod, gates.get(labels_of(pod).get(GANG_LABEL)))) is not None]
    if is_training(of.set):
        by_attempt = {(span.clique, span.index, span.attempt): span for span in (*_of_attempts(of), *current)}
        found: Iterable[Span] = by_attempt.values()
    else:
        found = _numbered([*_of_events(of), *current])
    return sorted(found, key=lambda span: (span.replica, span.clique, span.index, span.attempt))


def _opened(gang: Manifest) -> float | None:
    """Returns when the gates of a gang's pods were removed."""
    condition = condition_of(gang, "Initialized")
    return time_in(condition.get("lastTransitionTime")) if condition.get("status") == "True" else None


def _of_pod(pod: Manifest, opened: float | None) -> Span | None:
    metadata, spec, status = pod["metadata"], mapping(pod.get("spec")), mapping(pod.get("status"))
    made = time_in(metadata.get("creationTimestamp"))
    clique, _, index = str(spec.get("hostname") or "").rpartition("-")
    if made is None or not clique or not index.isdecimal():
        return None
    states = [mapping(container.get("state")) for container in maps(status.get("containerStatuses"))]
    starts = [at for state in states for part in state.values() if (at := time_in(mapping(part).get("startedAt"))) is not None]
    phase = str(status.get("phase") or "Pending")
    ends = [at for state in states if (at := time_in(mapping(state.get("terminated")).get("finishedAt"))) is not None]
    ended = max(ends, default=None) if phase in ("Succeeded", "Failed") else None
    began = max(starts, default=None) or (time_in(status.get("startTime")) if phase != "Pending" else None)
    labels = labels_of(pod)
    attempt, replica = number_in(labels.get(ATTEMPT_LABEL), 1), number_in(labels.get(REPLICA_LABEL), 0)
    state = phase if phase in ("Running", "Succeeded", "Failed") else "Pending"
    opened = None if spec.get("schedulingGates") else made if opened is None else max(made, opened)
    return Span(clique, int(index), replica, attempt, made, opened, began, ended, state, metadata["name"])


def _numbered(found: Iterable[Span]) -> list[Span]:
    """Numbers the pods of each index of a service. A former one that nobody has seen end has ended when its successor was made."""
    lanes: dict[tuple[str, int], list[Span]] = defaultdict(list)
    for span in found:
        lanes[span.clique, span.index].append(span)
    for lane in lanes.values():
        lane.sort(key=lambda span: span.made)
        for position, span in enumerate(lane):
            span.attempt = position + 1
            if span.state == "Ended" and span.ended is None and position + 1 < len(lane):
                span.ended = lane[position + 1].made
    return [span for lane in lanes.values() for span in lane]


TAKEN_NAMES = 4
"""Candidates for the name of a deleted pod by index; other than the first only if that was taken."""
FORMER_INDICES = 64
"""Indices that are tried for a deleted pod of a service: its PodClique may have been larger, or may be gone."""


def _of_attempts(of: TimelineObjects) -> Iterator[Span]:
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


def _of_events(of: TimelineObjects) -> Iterator[Span]:
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


@record
class Span:
    """A pod of an index: in one attempt of a job, or the n-th one known of a service.

    Times are in seconds since the epoch; `opened` is none while it is gated, `began` before its containers start, `ended` while it runs.
    `state` is Pending, Running, Succeeded, Failed, or Ended for a pod that was deleted.
    """

    clique: str
    index: int
    replica: int
    attempt: int
    made: float
    opened: float | None
    began: float | None
    ended: float | None
    state: str
    detail: str = ""

    @property
    def rank(self) -> str:
        """The hostname of the pod, the same for all its successors."""
        return f"{self.clique}-{self.index}"


def number_in(value: object, default: int) -> int:
    """Returns the number in a label or a field, `default` in place of anything else."""
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() else default
