"""Finds what objects of sets wait for: by the rules of `why`, or, for who may not read all that they ask, as the operator reports it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from applier.ref import Manifest, Ref
from grove_cli.operator.read_objects import ReadObjects
from grove_cli.queries.sets_query import PLACED, WAITING, count_in, unplaced_pods
from grove_cli.queries.tree_query import is_training
from grove_compiler.engine.runtime.results import ObjectWait
from grove_compiler.graph.node import ObjectRef
from grove_compiler.kube.conditions import STALLED, condition_of, is_held, is_true, status_of
from grove_compiler.kube.timestamp import time
from grove_compiler.labels import PART_OF
from grove_compiler.step import StepContext
from grove_operator.cluster.why import Reason, reasons
from grove_operator.controller.membership import replicas_of
from grove_operator.controller.waiting import HELD, RecordedCache, causes_of, waits_in
from kube_objects.manifest import by_label, is_terminating, namespaced_name

REPORTED = "why/reported"
"""Stands for the name of a rule in a wait that a status reports."""


def causes_in(read: ReadObjects, manifest: Manifest, pcs: Manifest, context: StepContext, now: float) -> list[Reason]:
    """Returns what an object of a set waits for, each with its causes."""
    if read.unread and not is_terminating(pcs):
        return _reported_causes(manifest, pcs, _pods_by_set(read))
    return causes_of(manifest, pcs, read.objects, read.unserved, context, now)


def causes_of_sets(
    read: ReadObjects, sets: Iterable[Manifest], context: StepContext, now: float
) -> Iterator[tuple[Manifest, list[Reason]]]:
    """Yields sets with what they wait for, each with its causes; none for one that waits for nothing."""
    cache, pods = RecordedCache(read.objects, read.unserved), _pods_by_set(read) if read.unread else {}
    for pcs in sets:
        if read.unread and not is_terminating(pcs):
            yield pcs, _reported_causes(pcs, pcs, pods)
        else:
            yield pcs, reasons(Ref.of(pcs), waits_in(cache, pcs, context, now))


def _pods_by_set(read: ReadObjects) -> Mapping[tuple[str, str], Sequence[Manifest]]:
    return by_label((one for one in read.objects if one["kind"] == "Pod" and not is_terminating(one)), PART_OF)


def _reported_causes(manifest: Manifest, pcs: Manifest, pods: Mapping[tuple[str, str], Sequence[Manifest]]) -> list[Reason]:
    return reasons(Ref.of(manifest), _reported(manifest, pcs, unplaced_pods(pods.get(namespaced_name(pcs), ()))))


def _reported(manifest: Manifest, pcs: Manifest, unplaced: list[Manifest]) -> list[ObjectWait]:
    """Returns what a set is reported to wait for, with what the scheduler reports of its pods; for a part of the set the same."""
    of, part = ObjectRef.of(pcs), ObjectRef.of(manifest)
    waits = [*_by_conditions(of, pcs)] or [*_by_pods(of, unplaced)] or [*_by_counts(of, pcs)]
    is_told = manifest in unplaced or (part.kind == "Pod" and is_true(manifest, "Ready"))
    if waits and part != of and not is_told:
        waits.append(ObjectWait(part, "SetWaits", "its set waits", "", None, of, REPORTED))
    return waits + [_wait(ObjectRef.of(pod), condition_of(pod, PLACED)) for pod in unplaced]


def _by_conditions(of: ObjectRef, pcs: Manifest) -> Iterator[ObjectWait]:
    if is_true(pcs, STALLED):
        yield _wait(of, condition_of(pcs, STALLED), HELD if is_held(pcs) else REPORTED)
    others = (condition_of(pcs, name) for name in WAITING if name != STALLED and is_true(pcs, name))
    yield from (_wait(of, condition) for condition in islice(others, 1))


def _by_pods(of: ObjectRef, unplaced: Iterable[Manifest]) -> Iterator[ObjectWait]:
    for pod in unplaced:
        yield ObjectWait(of, "PodNotReady", f"{pod['metadata']['name']} is not ready", "", None, ObjectRef.of(pod), REPORTED)


def _by_counts(of: ObjectRef, pcs: Manifest) -> Iterator[ObjectWait]:
    available, declared = count_in(status_of(pcs).get("availableReplicas")), replicas_of(pcs)
    if available < declared and not is_training(pcs):
        message = f"{available} of {declared} replicas are available, and the operator has not reported why"
        yield ObjectWait(of, "NotAvailable", message, "", None, None, REPORTED)


def _wait(of: ObjectRef, condition: Manifest, rule: str = REPORTED) -> ObjectWait:
    since = time(condition.get("lastTransitionTime") or None)
    return ObjectWait(of, str(condition.get("reason")), str(condition.get("message") or ""), "", since, None, rule)
