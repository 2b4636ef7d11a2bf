"""Lists the history of a training workload from its status, which has the last attempts."""

from __future__ import annotations

from collections.abc import Iterator

from applier.ref import Manifest
from grove_cli.queries.timeline.moment import Moment, moment_at
from grove_compiler.model.expanded.training.failure_description import failure_description
from kube_objects.manifest import mapping, maps

ENDS = {"Succeeded": "all its pods are done", "Suspended": "it was suspended", "Restarted": "new attempts were requested"}


def moments_of_job(pcs: Manifest) -> Iterator[Moment | None]:
    """Yields the attempts in a status, suspensions and the end; none for one without a time."""
    status = mapping(pcs.get("status"))
    phase = str(status.get("phase"))
    current = {(replica.get("index"), replica.get("attempt")) for replica in maps(status.get("trainingReplicas"))}
    for attempt in maps(status.get("attempts")):
        where = attempt.get("replica"), attempt.get("attempt")
        yield moment_at(attempt.get("startTime"), "AttemptStarted", "all its pods run", where)
        is_last = where in current and status.get("phase") == "Failed"
        yield moment_at(attempt.get("endTime"), "AttemptEnded", _end(attempt, is_last), where, is_bad=attempt.get("cause") not in ENDS)
    for replica in maps(status.get("trainingReplicas")):
        if replica.get("phase") == "Running":
            yield moment_at(replica.get("startTime"), "AttemptStarted", "all its pods run", (replica.get("index"), replica.get("attempt")))
    yield moment_at(status.get("suspendTime"), "SuspendedSince", "its pods are gone until it is resumed")
    yield moment_at(status.get("completionTime"), phase, "the workload has ended", is_bad=phase == "Failed")


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
