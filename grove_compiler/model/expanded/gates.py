"""Collects the facts about a gang by which `rules/lives/gates.yaml` decides when its pods may be scheduled."""

from __future__ import annotations

from typing import Protocol

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import status_of
from grove_compiler.model.expanded.attempts.attempt import attempt_pods
from grove_compiler.model.expanded.gang import Gang, base_gang, gang_of
from grove_compiler.model.expanded.live_object import condition_since, live_condition, live_object
from grove_compiler.model.expanded.live_pods import LivePod
from grove_compiler.model.expanded.reported_breach import BREACHED, SCHEDULED
from grove_compiler.model.expanded.structure import Clique, Replica
from grove_compiler.model.lazy import memoized
from grove_compiler.model.spec.podcliqueset import API_VERSION


class GateDecisions(Protocol):
    @staticmethod
    def gate_state(pod: LivePod) -> str:
        """Decides the next state of a pod in the life `gates/pod`: Gated, or Released when Grove's scheduling gate is removed."""

    @staticmethod
    def new_pod_is_gated(clique: Clique) -> bool:
        """Decides whether a pod of a clique is made with Grove's scheduling gate."""


def is_named_by_gang(pod: LivePod) -> bool:
    """Reports whether the live gang refers to the pod, so that its scheduler knows it."""
    return pod.name in names_in_gang(pod.clique)


@memoized
def base_gang_is_scheduled(replica: Replica) -> bool:
    """Reports whether the base gang exists and each of its cliques has `minReplicas` scheduled pods, or all while it is scaled below that.

    Counts the scheduled pods themselves, too: a new clique reports no status while its pods start (`deferred_statuses.py`), so a model that
    takes a minute to load would otherwise delay the scaled gangs until its PodClique reports the delay.
    """
    snapshot, cliques = replica.set.snapshot, {group.name: group.clique for group in base_gang(replica).groups}
    gang = snapshot.live(base_gang(replica).ref)
    if gang is None:
        return False
    for group in _podgroups(gang):
        name = group.get("name") or ""
        clique = cliques.get(name)
        if clique is not None and clique.is_idle:
            continue
        member = snapshot.live(ObjectRef(API_VERSION, "PodClique", replica.set.namespace, name))
        reported, observed = status_of(member).get("scheduledReplicas") or 0, _scheduled_pods(clique)
        if member is None or max(reported, observed) < needed_of(group.get("minReplicas") or 0, clique):
            return False
    return True


def lost_gate_early(pod: LivePod) -> bool:
    """Reports whether somebody else has removed a pod's gate: its gang is incomplete, or waits for a base gang that never had enough pods.

    A base gang that has lost pods since it was scheduled proves nothing: the gates of what scaled gangs had then were removed rightly.
    """
    clique = pod.clique
    if pod.is_gated or pod.is_finished:
        return False
    if not gang_of(clique).is_initialized:
        return True
    waits_since = _base_gang_waits_since(clique.replica) if clique.base_gang_name is not None else ""
    return bool(waits_since) and waits_since <= pod.created


@memoized
def _base_gang_waits_since(replica: Replica) -> str:
    """Returns the creation of the oldest PodClique of the base gang that never had enough scheduled pods; empty without one."""
    if base_gang_is_scheduled(replica):
        return ""
    return min(filter(None, map(_short_since_creation, base_gang(replica).cliques)), default="")


def _short_since_creation(clique: Clique) -> str:
    """Returns the creation of a PodClique whose status says that it has been short of scheduled pods since then; empty for another one."""
    live = live_object(clique)
    created = live["metadata"].get("creationTimestamp") or "" if live else ""
    is_short = live_condition(clique, SCHEDULED).get("status") == "False" and live_condition(clique, BREACHED).get("status") == "True"
    return created if is_short and condition_since(clique, SCHEDULED) == created == condition_since(clique, BREACHED) else ""


def needed_of(needed: int, clique: Clique | None) -> int:
    """Returns how many pods of a clique a gang that needs so many can wait for: all that are declared, where these are fewer."""
    return needed if clique is None else min(needed, clique.replicas)


def _scheduled_pods(clique: Clique | None) -> int:
    """Returns how many live pods of a clique are scheduled."""
    return sum(bool(pod.node_name) and not pod.is_finished for pod in attempt_pods(clique)) if clique is not None else 0


@memoized
def names_in_gang(clique: Clique) -> set[str]:
    """Returns the names of the pods that the clique's gang refers to, as a set, since every pod of the clique is looked up."""
    references = _references_by_group(gang_of(clique)).get(clique.name)
    return {reference.get("name") or "" for reference in references or []}


@memoized
def _references_by_group(gang: Gang) -> dict[str, list[Manifest]]:
    """Returns the references of a live gang by the names of their groups, of which it may have thousands: each clique looks for its own."""
    references: dict[str, list[Manifest]] = {}
    for group in _podgroups(gang.set.snapshot.live(gang.ref) or {}):
        references.setdefault(group.get("name") or "", group.get("podReferences") or [])
    return references


def _podgroups(gang: Manifest) -> list[Manifest]:
    return (gang.get("spec") or {}).get("podgroups") or []
