"""Lists the history of a training workload from its status, which has the last attempts, and from events, which expire."""

from __future__ import annotations

from collections.abc import Iterator

from applier.ref import Manifest
from grove_cli.queries.facts import deadline
from grove_cli.queries.job_query import RecordedJob
from grove_compiler.kube.timestamp import time
from grove_compiler.model.expanded.training.failure_description import failure_description
from grove_compiler.record import record

ENDS = {"Succeeded": "all its pods are done", "Suspended": "it was suspended", "Restarted": "new attempts were requested"}


@record
class Moment:
    """An entry of the history. `at` is in seconds since the epoch; `replica` and `attempt` are none for one about the whole workload."""

    at: float
    what: str
    message: str
    replica: int | None = None
    attempt: int | None = None
    is_bad: bool = False


def moments(job: RecordedJob) -> list[Moment]:
    """Returns the history by time. The future, such as the deadline, is not included."""
    known = [*_of_status(job.set), *map(_of_event, job.events)]
    return sorted((moment for moment in known if moment is not None), key=lambda moment: moment.at)


def deadline_of(pcs: Manifest) -> float | None:
    """Returns the deadline of a set; none if it has none, or is suspended."""
    return deadline(pcs["spec"].get("trainingSpec") or {}, pcs.get("status") or {})


def _of_status(pcs: Manifest) -> Iterator[Moment | None]:
    status = pcs.get("status") or {}
    yield _at(pcs["metadata"].get("creationTimestamp"), "Created", "the set was created")
    current = {(replica.get("index"), replica.get("attempt")) for replica in status.get("trainingReplicas") or []}
    for attempt in status.get("attempts") or []:
        where = attempt.get("replica"), attempt.get("attempt")
        yield _at(attempt.get("startTime"), "AttemptStarted", "all its pods run", where)
        is_last = where in current and status.get("phase") == "Failed"
        yield _at(attempt.get("endTime"), "AttemptEnded", _end(attempt, is_last), where, is_bad=attempt.get("cause") not in ENDS)
    for replica in status.get("trainingReplicas") or []:
        if replica.get("phase") == "Running":
            yield _at(replica.get("startTime"), "AttemptStarted", "all its pods run", (replica.get("index"), replica.get("attempt")))
    yield _at(status.get("suspendTime"), "SuspendedSince", "its pods are gone until it is resumed")
    yield _at(status.get("completionTime"), str(status.get("phase")), "the workload has ended", is_bad=status.get("phase") == "Failed")


def _end(attempt: Manifest, is_last: bool) -> str:
    """Describes how an attempt ended; nothing is said of a restart after the last one."""
    cause = str(attempt.get("cause"))
    if attempt.get("podClique"):
        words = failure_description(str(attempt["podClique"]), attempt)
        is_silent = is_last or attempt.get("counted") is None
        cost = "" if is_silent else "; it counts as a restart" if attempt["counted"] else "; it does not count as a restart"
        last = str(attempt.get("message") or "").strip().rpartition("\n")[2]
        return f"{words}{f': {last}' if last and cause == 'PodFailed' else ''}{cost}"
    return ENDS.get(cause, cause)


def _at(
    text: str | None, what: str, message: str, where: tuple[int | None, int | None] = (None, None), *, is_bad: bool = False
) -> Moment | None:
    at = time(text or None)
    return None if at is None else Moment(at, what, message, *where, is_bad)


def _of_event(event: Manifest) -> Moment | None:
    stamp = event.get("lastTimestamp") or event.get("eventTime") or event.get("firstTimestamp")
    about = event["involvedObject"]
    count = f" ({event['count']} times)" if (event.get("count") or 1) > 1 else ""
    who = f"{about['name']}: " if about["kind"] == "PodClique" else ""
    return _at(stamp, str(event.get("reason")), f"{who}{event.get('message') or ''}{count}", is_bad=event.get("type") == "Warning")
