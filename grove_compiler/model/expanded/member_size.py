"""Computes the size of a scaling group's replica, and the size that its containers know, when the declared sizes change while it runs.

The pods of a replica work together and know how many they are, so a new size takes effect when the whole replica is replaced. The shipped
operator recreates all its PodCliques then (§3.9, §7.5); here only those are recreated whose size changes.
"""

from __future__ import annotations

from grove_compiler.model.expanded.group_roll import is_outdated, member_is_updating
from grove_compiler.model.expanded.live_object import live_object
from grove_compiler.model.expanded.structure import Clique, ScalingGroupReplica
from grove_compiler.model.lazy import memoized

SIZE_VARIABLE = "GROVE_PCSG_TEMPLATE_NUM_PODS"


@memoized
def advertised_group_size(clique: Clique) -> int:
    """Returns the number of pods of a scaling group's replica that is passed to the containers of a clique.

    It is the number declared when the replica was created or last replaced, by the live PodClique; with `OnDelete` the one declared now.
    """
    if clique.member is None:
        return 0
    declared = clique.member.group.template.pods_per_replica
    if not clique.ref.uid or not clique.set.is_rolled or _is_replaced(clique.member):
        return declared
    live = _live_value(clique)
    return int(live) if live.isascii() and live.isdecimal() else declared


@memoized
def is_resized(clique: Clique) -> bool:
    """Reports whether a PodClique is to be recreated: its scaling-group replica is replaced, and it has the size of an older generation.

    A size that was never declared was set through the scale subresource, and is kept.
    """
    if clique.member is None or not clique.ref.uid or not _is_replaced(clique.member):
        return False
    live, generation = (live_object(clique).get("spec") or {}).get("replicas"), clique.set.generation_hash
    older = [revision.replicas(clique.declared.name) for revision in clique.set.revisions if revision.generation_hash != generation]
    return live is not None and live != clique.declared.replicas and live in older


def _is_replaced(member: ScalingGroupReplica) -> bool:
    return member_is_updating(member) and is_outdated(member)


def _live_value(clique: Clique) -> str:
    """Returns the value of the variable in the first container of the live PodClique; empty without one."""
    containers = ((live_object(clique).get("spec") or {}).get("podSpec") or {}).get("containers") or [{}]
    variables = containers[0].get("env") or []
    return next((str(variable.get("value") or "") for variable in variables if variable.get("name") == SIZE_VARIABLE), "")
