"""The three levels at which claims are shared, so that one rule can speak of all (shipped semantics §3.11, §6.2)."""

from __future__ import annotations

from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.sharing import SharingRef
from grove_compiler.record import record


@record
class SharingLevel:
    """Who shares, and whom its filters may name. A clique has no filters, a scaling group only those of its cliques."""

    origin: str
    refs: list[SharingRef]
    clique_names: list[str]
    group_names: list[str]


def sharing_levels(set: PodCliqueSet) -> list[SharingLevel]:
    """The set, its scaling groups and its cliques, as far as they share something."""
    levels = [SharingLevel("the set", set.resource_sharing, set.clique_names, set.group_names)]
    levels += [SharingLevel(f'scaling group "{group.name}"', group.resource_sharing, group.clique_names, []) for group in set.groups]
    levels += [SharingLevel(f'clique "{clique.name}"', clique.resource_sharing, [], []) for clique in set.cliques]
    return [level for level in levels if level.refs]
