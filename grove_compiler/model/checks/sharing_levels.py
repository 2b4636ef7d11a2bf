"""Lists the three levels at which claims are shared, so that one rule covers all (shipped semantics §3.11, §6.2)."""

from __future__ import annotations

from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.sharing import SharingRef
from grove_compiler.record import record


@record
class SharingLevel:
    """A set, scaling group or clique that shares claims, and the children that its filters may name: a clique none, a group its cliques."""

    origin: str
    refs: list[SharingRef]
    clique_names: list[str]
    group_names: list[str]


def sharing_levels(pcs: PodCliqueSet) -> list[SharingLevel]:
    """Returns those of the set, its scaling groups and its cliques that share claims."""
    levels = [SharingLevel("the set", pcs.resource_sharing, pcs.clique_names, pcs.group_names)]
    levels += [SharingLevel(f'scaling group "{group.name}"', group.resource_sharing, group.clique_names, []) for group in pcs.groups]
    levels += [SharingLevel(f'clique "{clique.name}"', clique.resource_sharing, [], []) for clique in pcs.cliques]
    return [level for level in levels if level.refs]
