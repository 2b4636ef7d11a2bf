"""Which rank of a training workload ran when, by attempt: of pods that are there by their status, of those before by that of the set."""

from __future__ import annotations

from collections.abc import Iterator

from applier.ref import Manifest
from grove_compiler.kube.timestamp import time
from grove_compiler.model import names
from grove_compiler.record import record
from grove_operator.cluster.job_query import RecordedJob

REPLICA_LABEL, ATTEMPT_LABEL, INDEX_LABEL = "grove.io/podcliqueset-replica-index", "grove.io/attempt", "grove.io/podclique-pod-index"
TAKEN_NAMES = 4
"""How many names of an index are tried for a pod that is gone: it has another one only where the first was taken."""


@record
class Span:
    """A rank in one attempt, in seconds since the epoch. `ended` is none while it runs, `began` while it waits for a node or image.

    `state` is Pending, Running, Succeeded, Failed, or Ended: of a pod that went with others.
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
        """The rank's name, which is its hostname in every attempt."""
        return f"{self.clique}-{self.index}"


def spans(job: RecordedJob) -> list[Span]:
    """Returns what is known of all ranks: by clique and index, and of each by attempt."""
    living = {(one.clique, one.index, one.attempt): one for one in map(_of_pod, job.pods) if one is not None}
    before = {(one.clique, one.index, one.attempt): one for one in _of_attempts(job)}
    return sorted((before | living).values(), key=lambda one: (one.replica, one.clique, one.index, one.attempt))


def _of_pod(pod: Manifest) -> Span | None:
    metadata, status = pod["metadata"], pod.get("status") or {}
    labels = metadata.get("labels") or {}
    made = time(metadata.get("creationTimestamp") or None)
    clique, _, index = str((pod.get("spec") or {}).get("hostname") or "").rpartition("-")
    if made is None or not clique or not index.isdecimal():
        return None
    states = [_map(one.get("state")) for one in status.get("containerStatuses") or []]
    starts = [at for state in states for part in state.values() if (at := time((part or {}).get("startedAt") or None)) is not None]
    phase = str(status.get("phase") or "Pending")
    ends = [at for state in states if (at := time(_map(state.get("terminated")).get("finishedAt") or None)) is not None]
    ended = max(ends, default=None) if phase in ("Succeeded", "Failed") else None
    began = max(starts, default=None) or (time(status.get("startTime") or None) if phase != "Pending" else None)
    number = _number(labels.get(ATTEMPT_LABEL), 1)
    state = phase if phase in ("Running", "Succeeded", "Failed") else "Pending"
    return Span(clique, int(index), _number(labels.get(REPLICA_LABEL), 0), number, made, began, ended, state, metadata["name"])


def _of_attempts(job: RecordedJob) -> Iterator[Span]:
    """Yields the ranks of attempts that are over: all of them ran from its start to its end, and one of them failed first."""
    before: dict[int, float] = {}
    for one in (job.set.get("status") or {}).get("attempts") or []:
        began, ended = time(one.get("startTime") or None), time(one.get("endTime") or None)
        replica, number = _number(one.get("replica"), 0), _number(one.get("attempt"), 1)
        made = before.get(replica, began if began is not None else ended)
        if ended is None or made is None:
            continue
        before[replica] = ended
        for clique in (each for each in job.cliques if _number((each["metadata"].get("labels") or {}).get(REPLICA_LABEL), 0) == replica):
            name, size = clique["metadata"]["name"], _number((clique.get("spec") or {}).get("replicas"), 0)
            guilty = _index(name, size, str(one.get("pod") or ""), number) if one.get("podClique") == name else None
            for index in range(size):
                state = "Failed" if index == guilty else "Succeeded" if one.get("cause") == "Succeeded" else "Ended"
                yield Span(name, index, replica, number, min(made, ended), began, ended, state, str(one.get("cause")))


def _index(clique: str, size: int, pod: str, attempt: int) -> int | None:
    """Returns the index of a pod that is gone, which follows from its name."""
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


def _map(value: object) -> Manifest:
    return value if isinstance(value, dict) else {}
