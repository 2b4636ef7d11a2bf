"""Whether the cliques of a set can ever start: cycles among what waits for what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grove_compiler.model.expanded.startup import EXPLICIT, IN_ORDER
from grove_compiler.model.spec.podcliqueset import PodCliqueSet
from grove_compiler.model.spec.templates import CliqueTemplate


def waits_for_others(set: PodCliqueSet, clique: CliqueTemplate) -> bool:
    """Whether pods of the clique may have to wait for those of another, so that they get the start-up init container."""
    if set.startup_type == IN_ORDER:
        return clique.index > 0
    return set.startup_type == EXPLICIT and any(name in set.clique_names for name in clique.starts_after)


def startup_cycles(set: PodCliqueSet) -> list[list[str]]:
    """The cycles among the `startsAfter` of a set's cliques, as `find_cycles` gives them. To wait for oneself is none."""
    return find_cycles({clique.name: clique.starts_after for clique in set.cliques})


def find_cycles(waits_for: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """One cycle for each knot of names that wait for each other, written as a walk that ends where it began: `[a, b, a]`.

    Each cycle is a shortest one through the first name, in the mapping's order, that its knot holds. Names that are no key and
    names that wait for themselves are left out: they are other mistakes. Linear in names and waits when there is no cycle.
    """
    knotted = _knotted({name: [other for other in others if other != name] for name, others in waits_for.items()})
    cycles: list[list[str]] = []
    reported: set[str] = set()
    for name in knotted:
        if name in reported:
            continue
        cycle = _shortest_way_back(name, knotted)
        if cycle:
            cycles.append(cycle)
            reported |= _reachable(name, knotted) & _reachable(name, _reversed(knotted))
    return cycles


def _knotted(waits_for: dict[str, list[str]]) -> dict[str, list[str]]:
    """What is left when names that wait for nothing are taken out, again and again: the cycles and what waits for them."""
    waiting = _reversed(waits_for)
    open_waits = {name: len({other for other in others if other in waits_for}) for name, others in waits_for.items()}
    free = [name for name, count in open_waits.items() if count == 0]
    for name in free:  # grows while it is walked
        for other in waiting[name]:
            open_waits[other] -= 1
            if open_waits[other] == 0:
                free.append(other)
    left = dict.fromkeys(name for name, count in open_waits.items() if count)
    return {name: [other for other in waits_for[name] if other in left] for name in left}


def _reversed(waits_for: dict[str, list[str]]) -> dict[str, list[str]]:
    waiting: dict[str, list[str]] = {name: [] for name in waits_for}
    for name, others in waits_for.items():
        for other in dict.fromkeys(others):
            if other in waiting:
                waiting[other].append(name)
    return waiting


def _shortest_way_back(start: str, waits_for: dict[str, list[str]]) -> list[str]:
    """Breadth first from a name to itself; empty when no way leads back."""
    came_from: dict[str, str] = {}
    ahead = [start]
    for name in ahead:  # grows while it is walked
        for other in waits_for[name]:
            if other == start:
                return [*_way(name, came_from), start]
            if other not in came_from:
                came_from[other] = name
                ahead.append(other)
    return []


def _way(name: str, came_from: dict[str, str]) -> list[str]:
    way = [name]
    while name in came_from:
        name = came_from[name]
        way.append(name)
    return way[::-1]


def _reachable(start: str, waits_for: dict[str, list[str]]) -> set[str]:
    reachable = {start}
    ahead = [start]
    for name in ahead:  # grows while it is walked
        new = [other for other in waits_for[name] if other not in reachable]
        reachable.update(new)
        ahead += dict.fromkeys(new)
    return reachable
