"""Checks that the cliques of a set can start: finds cycles among their start-up dependencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grove_compiler.model.spec.podcliqueset import PodCliqueSet


def startup_cycles(pcs: PodCliqueSet) -> list[list[str]]:
    """Returns the cycles among the `startsAfter` of a set's cliques, as `find_cycles` does; a clique that names itself is not one."""
    return find_cycles({clique.name: clique.starts_after for clique in pcs.cliques})


def find_cycles(waits_for: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Returns one cycle for each strongly connected component, as a walk that ends where it began: `[a, b, a]`.

    Each cycle is a shortest one through the first name of its component, in the mapping's order. Names that are not a key, and names that
    wait for themselves, are ignored: they have findings of their own. Takes linear time if there is no cycle.
    """
    ahead = {name: [other for other in dict.fromkeys(others) if other in waits_for and other != name] for name, others in waits_for.items()}
    if not any(ahead.values()):
        return []
    from graphlib import CycleError, TopologicalSorter  # takes half a millisecond, which a start without dependencies avoids

    try:
        TopologicalSorter(ahead).prepare()
    except CycleError:  # names one cycle only, but all of them are reported at once
        return _cycles(ahead)
    return []


def _cycles(ahead: dict[str, list[str]]) -> list[list[str]]:
    back: dict[str, list[str]] = {name: [] for name in ahead}
    for name, others in ahead.items():
        for other in others:
            back[other].append(name)
    cycles: list[list[str]] = []
    reported: set[str] = set()
    for name in ahead:
        if name not in reported and name in (came_from := _breadth_first(name, ahead)):
            cycles.append(_cycle(name, came_from))
            reported |= came_from.keys() & _breadth_first(name, back).keys()
    return cycles


def _breadth_first(start: str, ahead: dict[str, list[str]]) -> dict[str, str]:
    """Returns each name reachable from `start` with the name from which it is first reached; `start` too, if it is on a cycle."""
    came_from: dict[str, str] = {}
    names = [start]
    for name in names:  # grows while it is walked
        for other in ahead[name]:
            if other not in came_from:
                came_from[other] = name
                names.append(other)
    return came_from


def _cycle(start: str, came_from: dict[str, str]) -> list[str]:
    backwards = [start, came_from[start]]
    while backwards[-1] != start:
        backwards.append(came_from[backwards[-1]])
    return backwards[::-1]
