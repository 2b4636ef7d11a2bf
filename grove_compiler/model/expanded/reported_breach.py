"""Reads the condition MinAvailableBreached of PodCliques and scaling groups: which are breached, and since when (shipped §7.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from grove_compiler.graph.node import Manifest
from grove_compiler.kube.conditions import condition_of
from grove_compiler.kube.timestamp import time
from grove_compiler.record import record

BREACHED = "MinAvailableBreached"
SCHEDULED = "PodCliqueScheduled"
COMES_BACK = ("ScaledBelowMinAvailable", "NotAvailableSinceScaledOut")
"""Reasons of the condition of what is scaled below `minAvailable`, or has not had enough pods since it was scaled out again."""
UPDATING = ("UpdateInProgress", "NotAvailableSinceUpdated")
"""Reasons of what is being updated, or has not had enough pods since an update was left to people in the middle, or made by them."""
STARTING_SECONDS = 5.0
"""A condition whose last transition is later than this after the object's creation had another status before."""


@record
class ReportedBreach:
    """A breached PodClique or scaling group: its `name`, `since` when in seconds since the epoch, and whether it was unbreached before."""

    since: float
    name: str
    was_whole: bool


def reported_breaches(manifests: Iterable[Manifest | None], evidence: str) -> Iterator[ReportedBreach]:
    """Yields the breaches of objects, without those that never had enough pods, by the history of their condition `evidence`.

    Objects that are scaled in below what their gang needs are left out too: a restart would give them no pods, and would delete those of
    all others (grove #676). So are those that were, and have not had enough pods since: they count as if they never had. And those whose
    pods of a newer template do not run: a restart would give that template to all others.
    """
    for manifest in manifests:
        breach = condition_of(manifest, BREACHED)
        since = time(breach.get("lastTransitionTime")) if breach.get("status") == "True" else None
        if manifest is None or since is None or _is_scaled_in(manifest) or breach.get("reason") in (*COMES_BACK, *UPDATING):
            continue
        was_whole, had_pods = _has_changed(manifest, breach), condition_of(manifest, evidence)
        if was_whole or (evidence != BREACHED and (had_pods.get("status") == "True" or _has_changed(manifest, had_pods))):
            yield ReportedBreach(since, manifest["metadata"]["name"], was_whole)


def first_reported_breach(cliques: Sequence[Manifest | None], groups: Iterable[Manifest | None]) -> ReportedBreach | None:
    """Returns the oldest breach of a replica's standalone PodCliques and scaling groups.

    Returns none while a PodClique is missing: the replica's own step creates it.
    """
    if None in cliques:
        return None
    return earliest((*reported_breaches(cliques, SCHEDULED), *reported_breaches(groups, BREACHED)))


def earliest(breaches: Iterable[ReportedBreach]) -> ReportedBreach | None:
    """Returns the oldest breach; none without any."""
    return min(breaches, key=lambda breach: (breach.since, breach.name), default=None)


def _is_scaled_in(manifest: Manifest) -> bool:
    """Reports whether a PodClique is scaled below its `minAvailable`, or a scaling group, which otherwise keeps `minAvailable`, to zero."""
    spec = manifest.get("spec") or {}
    needed = spec.get("minAvailable") or 0 if manifest.get("kind") == "PodClique" else 1
    return isinstance(spec.get("replicas"), int) and bool(spec["replicas"] < needed)


def _has_changed(manifest: Manifest, condition: Manifest) -> bool:
    """Reports whether a condition has changed its status since the object's creation."""
    transition, created = time(condition.get("lastTransitionTime")), time(manifest["metadata"].get("creationTimestamp"))
    return transition is not None and (created is None or transition > created + STARTING_SECONDS)
