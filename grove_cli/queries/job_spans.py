"""Computes when each rank of a training workload ran, by attempt: from existing pods, and for earlier ones from the set's status."""

from __future__ import annotations

from collections.abc import Iterator

from applier.ref import Manifest
from grove_cli.queries.job_query import RecordedJob
from grove_compiler.kube.timestamp import time
from grove_compiler.labels import ATTEMPT_LABEL, REPLICA_LABEL
from grove_compiler.model import names
from grove_compiler.record import record
from kube_objects.manifest import mapping

TAKEN_NAMES = 4
"""Candidates for the name of a deleted pod by index; other than the first only if that was taken."""


@record
class Span:
    """A rank in one attempt. Times are in seconds since the epoch; `ended` is none while it runs, `began` before its containers start.

    `state` is Pending, Running, Succeeded, Failed, or Ended for a pod that was deleted with its attempt.
    """

    clique: str
    index: int
    replica: int
    attempt: int
    made: float
    began: float | None
    ended: float | None
    state: str
    detail: str = ""

    @property
    def rank(self) -> str:
        """The hostname of the rank, the same in every attempt."""
        return f"{self.clique}-{self.index}"


def spans(job: RecordedJob) -> list[Span]:
    """Returns the spans of all ranks by clique, index and attempt."""
    current = {(span.clique, span.index, span.attempt): span for span in map(_of_pod, job.pods) if span is not None}
    earlier = {(span.clique, span.index, span.attempt): span for span in _of_attempts(job)}
    return sorted((earlier | current).values(), key=lambda span: (span.replica, span.clique, span.index, span.attempt))


def _of_pod(pod: Manifest) -> Span | None:
    metadata, status = pod["metadata"], pod.get("status") or {}
    labels = metadata.get("labels") or {}
    made = time(metadata.get("creationTimestamp") or None)
    clique, _, index = str((pod.get("spec") or {}).get("hostname") or "").rpartition("-")
    if made is None or not clique or not index.isdecimal():
        return None
    states = [mapping(container.get("state")) for container in status.get("containerStatuses") or []]
    starts = [at for state in states for part in state.values() if (at := time((part or {}).get("startedAt") or None)) is not None]
    phase = str(status.get("phase") or "Pending")
    ends = [at for state in states if (at := time(mapping(state.get("terminated")).get("finishedAt") or None)) is not None]
    ended = max(ends, default=None) if phase in ("Succeeded", "Failed") else None
    began = max(starts, default=None) or (time(status.get("startTime") or None) if phase != "Pending" else None)
    number = _number(labels.get(ATTEMPT_LABEL), 1)
    state = phase if phase in ("Running", "Succeeded", "Failed") else "Pending"
    return Span(clique, int(index), _number(labels.get(REPLICA_LABEL), 0), number, made, began, ended, state, metadata["name"])


def _of_attempts(job: RecordedJob) -> Iterator[Span]:
    """Yields the ranks of ended attempts: all of them ran from its start to its end, and one of them failed first."""
    previous_end: dict[int, float] = {}
    for attempt in (job.set.get("status") or {}).get("attempts") or []:
        began, ended = time(attempt.get("startTime") or None), time(attempt.get("endTime") or None)
        replica, number = _number(attempt.get("replica"), 0), _number(attempt.get("attempt"), 1)
        made = previous_end.get(replica, began if began is not None else ended)
        if ended is None or made is None:
            continue
        previous_end[replica] = ended
        for clique in (each for each in job.cliques if _number((each["metadata"].get("labels") or {}).get(REPLICA_LABEL), 0) == replica):
            name, size = clique["metadata"]["name"], _number((clique.get("spec") or {}).get("replicas"), 0)
            failed = _index(name, size, str(attempt.get("pod") or ""), number) if attempt.get("podClique") == name else None
            for index in range(size):
                state = "Failed" if index == failed else "Succeeded" if attempt.get("cause") == "Succeeded" else "Ended"
                yield Span(name, index, replica, number, min(made, ended), began, ended, state, str(attempt.get("cause")))


def _index(clique: str, size: int, pod: str, attempt: int) -> int | None:
    """Returns the index of a deleted pod, derived from its name."""
    for index in range(size):
        taken: list[str] = []
        while len(taken) < TAKEN_NAMES:
            taken.append(names.pod(clique, index, taken.__contains__, attempt))
        if pod in (*taken, f"{clique}-{index}"):
            return index
    return None


def _number(value: object, default: int) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() else default
