"""When a pod's scheduling gate goes (shipped semantics §4.5, without its gotcha 31)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grove_compiler.graph.node import Manifest

if TYPE_CHECKING:
    from grove_compiler.model.expanded.derived import Clique

SCHEDULING_GATE = "grove.io/podgang-pending-creation"


def may_be_scheduled(pod: Manifest, clique: Clique) -> bool:
    """Whether the gate of an existing pod is gone already, or may go now.

    It goes once the PodGang is initialized and names the pod, and for pods of scaled gangs once the base gang has its pods on
    nodes. To wait until the gang is whole keeps the scheduler from placing a part of it.
    """
    gates = (pod.get("spec") or {}).get("schedulingGates") or []
    if all(gate.get("name") != SCHEDULING_GATE for gate in gates):
        return True
    if not clique.gang.is_initialized or not _is_referenced(pod, clique):
        return False
    return clique.base_gang_name is None or _is_base_gang_scheduled(clique)


def _is_referenced(pod: Manifest, clique: Clique) -> bool:
    gang = clique.set.snapshot.live(clique.gang.ref)
    for group in ((gang or {}).get("spec") or {}).get("podgroups") or []:
        if group.get("name") == clique.name:
            return any(reference.get("name") == pod["metadata"]["name"] for reference in group.get("podReferences") or [])
    return False


def _is_base_gang_scheduled(clique: Clique) -> bool:
    snapshot = clique.set.snapshot
    gang = snapshot.live(clique.replica.base_gang.ref)
    if gang is None:
        return False
    for group in (gang.get("spec") or {}).get("podgroups") or []:
        member = snapshot.live(clique.ref._replace(name=group.get("name") or ""))
        scheduled = ((member or {}).get("status") or {}).get("scheduledReplicas") or 0
        if member is None or scheduled < (group.get("minReplicas") or 0):
            return False
    return True
