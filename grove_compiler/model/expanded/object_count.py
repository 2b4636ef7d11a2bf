"""How many objects a set becomes, at least: known before any of them is made."""

from __future__ import annotations

from grove_compiler.model.expanded.structure import ExpandedSet


def count_objects(expanded: ExpandedSet, enough: int) -> int:
    """The number of Services, PodCliques, scaling groups, gangs and, if asked for, Pods. Stops counting above `enough`.

    Other objects come on top, so the real number is a little higher. Live replica counts of the snapshot are taken into account.
    """
    if not expanded.snapshot:
        return expanded.replica_count * _per_replica(expanded)
    total = 2 * expanded.replica_count
    if total > enough:
        return total
    for replica in expanded.replicas:
        total += sum(1 + _pods(expanded, clique.replicas) for clique in replica.cliques)
        for group in replica.scaling_groups:
            total += group.replicas * len(group.template.cliques)
            if total > enough:
                return total
            total += sum(_pods(expanded, clique.replicas) for member in group.members for clique in member.cliques)
        if total > enough:
            return total
    return total


def _per_replica(expanded: ExpandedSet) -> int:
    total = 2  # the headless Service and the base gang
    for clique in expanded.cliques:
        if clique.group is None:
            total += 1 + _pods(expanded, clique.replicas)
    for group in expanded.groups:
        replicas = group.replicas or 0
        members = sum(1 + _pods(expanded, clique.replicas) for clique in group.cliques)
        total += 1 + replicas * members + max(0, replicas - (group.min_available or 0))
    return total


def _pods(expanded: ExpandedSet, replicas: int) -> int:
    return replicas if expanded.settings.pods else 0
