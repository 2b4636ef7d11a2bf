"""Lists the history of a set: from its status, with the last attempts of a job, conditions, revisions, and from events, which expire."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from applier.ref import Manifest, Ref
from grove_cli.queries.events_query import time_in
from grove_cli.queries.facts import deadline
from grove_cli.queries.rollout.history import history_of
from grove_cli.queries.timeline.objects import TimelineObjects, time_of, told
from grove_cli.queries.tree_query import is_training
from grove_compiler.decoder import SET_KIND
from grove_compiler.kube.conditions import condition_of, is_true
from grove_compiler.model.expanded.attempts.pod_end import failure_description
from grove_compiler.model.names import replica_of
from grove_compiler.record import record
from kube_objects.manifest import mapping, maps
from kube_objects.words import listed

SLACK = 5.0
"""Seconds by which the time of an event may differ from that of the same fact in a status."""


def moments(of: TimelineObjects) -> list[Moment]:
    """Returns the history by time. The future, such as the deadline, is not included."""
    known = [moment_at(of.set["metadata"].get("creationTimestamp"), "Created", "the set was created")]
    known += [_of_event(event, of) for event in told(of.events)]
    known += [*_of_revisions(of), *_of_gates(of)]
    known += _moments_of_job(of.set) if is_training(of.set) else [*_of_update(of), *_of_conditions(of)]
    return sorted((moment for moment in known if moment is not None), key=lambda moment: moment.at)


def deadline_of(pcs: Manifest) -> float | None:
    """Returns the deadline of a set; none if it has none, or is suspended."""
    try:
        return deadline(mapping(mapping(pcs.get("spec")).get("trainingSpec")), mapping(pcs.get("status")))
    except ValueError:  # of a time in a file
        return None


def _of_event(event: Manifest, of: TimelineObjects) -> Moment | None:
    about = event["involvedObject"]
    name, is_set = str(about.get("name")), about.get("kind") == SET_KIND
    count = f" ({event['count']} times)" if (event.get("count") or 1) > 1 else ""
    message = f"{'' if is_set else f'{name}: '}{event.get('message') or ''}{count}"
    at, is_bad = time_of(event), event.get("type") == "Warning"
    return (
        None if at is None else Moment(at, str(event.get("reason")), message, None if is_set else replica_of(name, of.name), is_bad=is_bad)
    )


def _of_revisions(of: TimelineObjects) -> Iterator[Moment]:
    """Yields when each later revision was recorded, and what it changes in the pods; the first is there from the beginning."""
    for revision in history_of(of.set, of.parts["ControllerRevision"])[1:]:
        if revision.created is not None:
            yield Moment(revision.created, "Revision", f"{revision.number}: {'; '.join(revision.changes) or 'the pods stay the same'}")


def _of_gates(of: TimelineObjects) -> Iterator[Moment]:
    """Yields when gangs were complete, so that the gates of their pods were removed; those of one time together."""
    opened: dict[float, list[str]] = defaultdict(list)
    for gang in of.parts["PodGang"]:
        at = time_in(condition_of(gang, "Initialized").get("lastTransitionTime"))
        if at is not None and is_true(gang, "Initialized"):
            opened[at].append(gang["metadata"]["name"])
    for at, names in opened.items():
        replicas = {replica_of(name, of.name) for name in names}
        yield Moment(at, "GatesOpened", f"{listed(names)}: all pods exist", replicas.pop() if len(replicas) == 1 else None)


def _of_update(of: TimelineObjects) -> Iterator[Moment | None]:
    """Yields begin and end of the last update, unless events say so."""
    progress = mapping(mapping(of.set.get("status")).get("updateProgress"))
    for field, reason, message in (
        ("updateStartedAt", "UpdateStarted", "the pods are updated, one replica at a time"),
        ("updateEndedAt", "UpdateEnded", "all pods are updated"),
    ):
        at = time_in(progress.get(field))
        if at is not None and not _is_told(of, of.set, reason, at):
            yield Moment(at, reason, message)


def _of_conditions(of: TimelineObjects) -> Iterator[Moment | None]:
    """Yields conditions that are bad and not told by events: those of the set, and of parts below `minAvailable`."""
    found = [(of.set, condition) for condition in maps(mapping(of.set.get("status")).get("conditions"))]
    parts = (*of.parts["PodCliqueScalingGroup"], *of.parts["PodClique"])
    found += [(part, condition_of(part, "MinAvailableBreached")) for part in parts]
    for manifest, condition in found:
        at = time_in(condition.get("lastTransitionTime"))
        if at is None or condition.get("status") != "True" or _is_told(of, manifest, str(condition.get("reason")), at):
            continue
        name = manifest["metadata"]["name"]
        who = "" if manifest is of.set else f"{name}: "
        message = f"{who}{condition.get('message') or ''}"
        yield Moment(at, str(condition.get("type")), message, replica_of(name, of.name), is_bad=True)


def _is_told(of: TimelineObjects, manifest: Manifest, reason: str, at: float) -> bool:
    ref = Ref.of(manifest)
    about = (each for each in of.events if (each["involvedObject"].get("kind"), each["involvedObject"].get("name")) == (ref.kind, ref.name))
    return any(each.get("reason") == reason and (time_of(each) or 0.0) >= at - SLACK for each in about)


ENDS = {"Succeeded": "all its pods are done", "Suspended": "it was suspended", "Restarted": "new attempts were requested"}


def _moments_of_job(pcs: Manifest) -> Iterator[Moment | None]:
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


@record
class Moment:
    """An entry of the history. `at` is in seconds since the epoch; `replica` and `attempt` are none for one about the whole workload."""

    at: float
    what: str
    message: str
    replica: int | None = None
    attempt: int | None = None
    is_bad: bool = False


def moment_at(
    text: object, what: str, message: str, where: tuple[int | None, int | None] = (None, None), *, is_bad: bool = False
) -> Moment | None:
    """Returns an entry at the time in a field; none without a time."""
    at = time_in(text)
    return None if at is None else Moment(at, what, message, *where, is_bad)
