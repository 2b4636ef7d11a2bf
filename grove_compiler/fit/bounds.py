"""Proves that pods cannot be placed, by counts that any placement has to respect. A bound that holds proves nothing.

All bounds are about what is free at first. They hold for any order and any placement of the gangs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import gcd

from grove_compiler.fit.problem import Family, PlaceDemand, PodType, Problem
from grove_compiler.fit.room import Room, bits, union

FINE = 8
"""Items of which a bin holds this many are not counted one by one: their total is enough."""

Item = tuple[int, int]
"""A size and the number of items, or bins, that have it."""


class Bounds:
    """Refutes placements by bounds on what the free amounts of a problem can hold."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._room = Room(problem)
        self._most: dict[PodType, int] = {}  # of the whole cluster; cached, since each gang is refuted together with all earlier ones

    def refute(self, admitted: Sequence[PlaceDemand], place: PlaceDemand) -> str:
        """Returns why a place cannot stand together with the gangs `admitted` before; empty when no bound proves that."""
        places = [*admitted, place]
        return self._alone(place) or self._on_nodes(places) or self._in_domains(places)

    def _alone(self, place: PlaceDemand) -> str:
        """Names the first scope that no domain could hold even if it were the only one; empty when there is none."""
        for part in place.walk():
            if any(part.demand) and not self._has_area(part):
                where = f"no domain of {part.required.key.name}" if part.required else "no set of nodes"
                whose = "all its pods" if part is place else f"all pods of a {part.scope.level}"
                return f"{where} has room for {whose}"
        return ""

    def _has_area(self, place: PlaceDemand) -> bool:
        areas = place.required.masks if place.required else [self.problem.everywhere]
        counts = place.pod_counts
        return any(all(self._room.holds(kind, count, area) for kind, count in counts.items()) for area in areas)

    def _on_nodes(self, places: Sequence[PlaceDemand]) -> str:
        """Counts pods as items and nodes as bins, for each resource; returns what does not fit, or an empty text."""
        counts = _pod_counts(places)
        for kind, count in counts.items():
            if kind not in self._most:
                self._most[kind] = self._room.most(kind, self.problem.everywhere)
            if self._most[kind] < count:
                return f"all nodes together hold fewer than {count} pods of one kind"
        for position, resource in enumerate(self.problem.resources):
            asking = {kind: count for kind, count in counts.items() if kind.need[position]}
            items = _items((kind.need[position], count) for kind, count in asking.items())
            if overflows(items, [(self.problem.free[node][position], 1) for node in bits(union(kind.eligible for kind in asking))]):
                return f"the pods request more {resource} than the nodes have in usable portions"
        return ""

    def _in_domains(self, places: Sequence[PlaceDemand]) -> str:
        """Counts scopes as items and domains as bins, for each key and resource; returns what does not fit, or an empty text."""
        for family in self.problem.families.values():
            tops = [top for place in places for top in _topmost(place, family) if any(top.demand)]
            for position, resource in enumerate(self.problem.resources):
                items = _items((top.demand[position], 1) for top in tops)
                if items and overflows(items, self._bins(family, position, tops)):
                    return f"the domains of {family.key.name} have too little {resource} in usable portions"
        return ""

    def _bins(self, family: Family, position: int, tops: Sequence[PlaceDemand]) -> list[Item]:
        """Returns how much of a resource these scopes' pods can use in each domain: on each node only sums of single pods' requests."""
        counts = _pod_counts(tops)
        eligible = union(kind.eligible for kind in counts if kind.need[position])
        items = _items((kind.need[position], count) for kind, count in counts.items())
        pieces = list(map(usable(items), (have[position] for have in self.problem.free)))
        return [(sum(pieces[node] for node in bits(domain & eligible)), 1) for domain in family.masks]


def usable(items: Sequence[Item]) -> Callable[[int], int]:
    """Returns a function from the free amount to an upper bound of the largest sum of some of these items that fits into it."""
    unit, total = gcd(*(size for size, _ in items)) or 1, sum(size * count for size, count in items)
    return lambda free: min(total, free // unit * unit)


def _pod_counts(places: Iterable[PlaceDemand]) -> Counter[PodType]:
    counts: Counter[PodType] = Counter()
    for place in places:
        counts.update(place.pod_counts)  # adding counters would create a new one each time: with 500 gangs, a sixth of the run
    return counts


def overflows(items: Sequence[Item], bins: Sequence[Item]) -> bool:
    """Reports whether items of these sizes provably cannot all go into bins of these sizes.

    Two counts prove it: a bin holds only so many items of at least a given size; and only a sum of existing sizes can fill a bin.
    """
    bins = _items(bins)
    if not bins:
        return bool(items)
    pieces = usable(items)
    if sum(size * count for size, count in items) > sum(pieces(size) * count for size, count in bins):
        return True
    largest, at_least = max(size for size, _ in bins), 0
    for size, count in sorted(items, reverse=True):
        if size * FINE < largest:  # items this small fill the bins without a gap; their total was compared above
            return False
        at_least += count
        if at_least > sum(free // size * number for free, number in bins):
            return True
    return False


def _items(pairs: Iterable[Item]) -> list[Item]:
    """Groups equal sizes together and drops items of size 0."""
    result: dict[int, int] = {}
    for size, count in pairs:
        if size > 0 and count > 0:
            result[size] = result.get(size, 0) + count
    return list(result.items())


def _topmost(place: PlaceDemand, family: Family) -> list[PlaceDemand]:
    """Returns the outermost scopes that need a domain of this family."""
    if place.required is family:
        return [place]
    return [top for part in place.places for top in _topmost(part, family)]
