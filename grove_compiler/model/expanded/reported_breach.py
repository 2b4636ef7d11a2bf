"""Reads which PodCliques and scaling groups say that they are short of pods which they cannot do without, and since when (shipped §7.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import condition_of
from grove_compiler.kube.timestamp import time
from grove_compiler.record import record

BREACHED = "MinAvailableBreached"
SCHEDULED = "PodCliqueScheduled"
STARTING_SECONDS = 5.0
"""A condition that changed later than this after its object was made tells of something that was different before (shipped §7.6)."""


@record
class ReportedBreach:
    """An object that says that it is short of pods: its `name`, `since` when (seconds since the epoch), whether it ever said otherwise."""

    since: float
    name: str
    was_whole: bool


def reported_breaches(manifests: Iterable[Manifest | None], sign: str) -> Iterator[ReportedBreach]:
    """Yields what objects report that are short of pods. Those that never had them, by their condition `sign`, are left out.

    So are those that somebody has scaled in too far: a restart would bring no pod of theirs, and take those of all others (grove #676).
    """
    for manifest in manifests:
        breach = condition_of(manifest, BREACHED)
        since = time(breach.get("lastTransitionTime")) if breach.get("status") == "True" else None
        if manifest is None or since is None or _is_scaled_in(manifest):
            continue
        was_whole, had_pods = _has_changed(manifest, breach), condition_of(manifest, sign)
        if was_whole or (sign != BREACHED and (had_pods.get("status") == "True" or _has_changed(manifest, had_pods))):
            yield ReportedBreach(since, manifest["metadata"]["name"], was_whole)


def first_reported_breach(cliques: Sequence[Manifest | None], groups: Iterable[Manifest | None]) -> ReportedBreach | None:
    """Returns the first breach that is reported of a replica's standalone PodCliques and scaling groups; none where it lacks a PodClique.

    The step of such a replica makes what it lacks.
    """
    if None in cliques:
        return None
    return earliest((*reported_breaches(cliques, SCHEDULED), *reported_breaches(groups, BREACHED)))


def earliest(breaches: Iterable[ReportedBreach]) -> ReportedBreach | None:
    """Returns the breach that is reported for the longest time, if there is any."""
    return min(breaches, key=lambda one: (one.since, one.name), default=None)


def _is_scaled_in(manifest: Manifest) -> bool:
    """Whether a PodClique was given fewer pods than its gang needs, or a scaling group, of which the gang keeps what it needs, none."""
    spec = manifest.get("spec") or {}
    least = spec.get("minAvailable") or 0 if manifest.get("kind") == "PodClique" else 1
    return isinstance(spec.get("replicas"), int) and bool(spec["replicas"] < least)


def _has_changed(manifest: Manifest, condition: Manifest) -> bool:
    """Whether a condition is another than it was at first."""
    changed, created = time(condition.get("lastTransitionTime")), time(manifest["metadata"].get("creationTimestamp"))
    return changed is not None and (created is None or changed > created + STARTING_SECONDS)
