"""Collects the facts about a gang by which `rules/lives/gates.yaml` decides when its pods may be scheduled."""

from __future__ import annotations

from typing import Protocol

from grove_compiler.graph.node import Manifest, ObjectRef
from grove_compiler.kube.conditions import status_of
from grove_compiler.model.expanded.attempts.attempt import attempt_pods
from grove_compiler.model.expanded.gang import Gang, base_gang, gang_of
from grove_compiler.model.expanded.live_pods import LivePod
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
