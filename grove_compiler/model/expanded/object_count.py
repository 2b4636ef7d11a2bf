"""How many objects a set becomes, at least: known before any of them is made."""

from __future__ import annotations

from grove_compiler.model.expanded.structure import ExpandedSet


def count_objects(expanded: ExpandedSet, enough: int) -> int:
    """The number of Services, PodCliques, scaling groups, gangs and, if asked for, Pods. Stops counting above `enough`.

    Other objects come on top, so the real number is a little higher. Live replica counts of the snapshot are taken into account.
    """
    total = 2 * expanded.replica_count  # the headless Service and the base gang
    # A count may be in the billions, so each is multiplied and looked at before anything is made for it.
    if total > enough:
        return total
    for replica in expanded.replicas:
        total += sum(1 + _pods(expanded, clique.replicas) for clique in replica.cliques)
        for group in replica.scaling_groups:
            total += 1 + group.replicas * len(group.template.cliques) + max(0, group.replicas - group.min_available)
            if total > enough:
                return total
            total += sum(_pods(expanded, clique.replicas) for member in group.members for clique in member.cliques)
        if total > enough:
            return total
    return total


def _pods(expanded: ExpandedSet, replicas: int) -> int:
    return replicas if expanded.settings.pods else 0
