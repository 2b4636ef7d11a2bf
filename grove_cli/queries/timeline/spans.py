"""Computes when each pod of a set ran: from existing pods, and for former ones from the status of a job, or from events about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from applier.ref import Manifest
from grove_cli.queries.one_set import is_training
from grove_cli.queries.timeline.former import of_attempts, of_events
from grove_cli.queries.timeline.objects import TimelineObjects
from grove_cli.queries.timeline.span import Span, number_in
from grove_cli.queries.times import time_in
from grove_compiler.kube.conditions import condition_of
from grove_compiler.labels import ATTEMPT_LABEL, GANG_LABEL, REPLICA_LABEL
from kube_objects.manifest import labels_of, mapping, maps


def spans(of: TimelineObjects) -> list[Span]:
    """Returns the spans of all pods by replica, clique, index and attempt."""
    gates = {gang["metadata"]["name"]: _opened(gang) for gang in of.parts["PodGang"]}
    current = [span for pod in of.parts["Pod"] if (span := _of_pod(pod, gates.get(labels_of(pod).get(GANG_LABEL)))) is not None]
    if is_training(of.set):
        by_attempt = {(span.clique, span.index, span.attempt): span for span in (*of_attempts(of), *current)}
        found: Iterable[Span] = by_attempt.values()
    else:
        found = _numbered([*of_events(of), *current])
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
