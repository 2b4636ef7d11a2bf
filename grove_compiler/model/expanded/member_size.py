"""How many pods a replica of a scaling group has, and is told that it has, when another number is declared while it runs.

Its pods work together and know how many they are, so that what is declared counts from when the replica is replaced as a whole. The
shipped operator makes the PodCliques anew then (§3.9, §7.5); here only those are made anew that get another size.
"""

from __future__ import annotations

from grove_compiler.model.expanded.group_roll import is_outdated, member_is_updating
from grove_compiler.model.expanded.live_object import live_object
from grove_compiler.model.expanded.structure import Clique, ScalingGroupReplica
from grove_compiler.model.lazy import remembered

TOLD = "GROVE_PCSG_TEMPLATE_NUM_PODS"


@remembered
def told_group_size(clique: Clique) -> int:
    """Returns how many pods the containers of a clique in a scaling group are told that a replica of the group has (shipped §2.4).

    That is what was declared when the replica came to be what it is, as its PodClique says. Where pods are replaced by hand it is what is
    declared now.
    """
    if clique.member is None:
        return 0
    declared = clique.member.group.template.pods_per_replica
    if not clique.ref.uid or not clique.set.is_rolled or _is_replaced(clique.member):
        return declared
    told = _told(clique)
    return int(told) if told.isascii() and told.isdecimal() else declared


@remembered
def is_resized(clique: Clique) -> bool:
    """Tells whether a PodClique is to be made anew: its replica of a scaling group is replaced, and it has a size of an older generation.

    A number that was never declared is somebody's scale, which is kept.
    """
    if clique.member is None or not clique.ref.uid or not _is_replaced(clique.member):
        return False
    live, generation = (live_object(clique).get("spec") or {}).get("replicas"), clique.set.generation_hash
    older = [one.replicas(clique.declared.name) for one in clique.set.revisions if one.generation_hash != generation]
    return live is not None and live != clique.declared.replicas and live in older


def _is_replaced(member: ScalingGroupReplica) -> bool:
    return member_is_updating(member) and is_outdated(member)


def _told(clique: Clique) -> str:
    """What the PodClique that exists tells its first container; empty without one."""
    containers = ((live_object(clique).get("spec") or {}).get("podSpec") or {}).get("containers") or [{}]
    return next((str(one.get("value") or "") for one in containers[0].get("env") or [] if one.get("name") == TOLD), "")
