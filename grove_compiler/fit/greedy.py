"""Places one gang quickly into what is free: the tightest domain and the tightest node that will do. It may miss a placement."""

from __future__ import annotations

from collections.abc import Iterator

from grove_compiler.fit.problem import Family, Leaf, PlaceDemand, Problem, Vector
from grove_compiler.fit.room import Room, bits


class Greedy:
    """Puts places into a room. It values what is scarce in the whole cluster higher, so that pods without GPUs keep off GPU nodes."""

    def __init__(self, problem: Problem, room: Room) -> None:
        self.problem = problem
        self.room = room
        self._values: dict[Vector, float] = {}

    def put(self, place: PlaceDemand, mask: int) -> bool:
        """Places all pods of a place on nodes of a mask, or none of them."""
        if not any(place.demand):
            return True
        if isinstance(place, Leaf):
            return any(self._fill(place, area) for area in self._areas(place, mask))
        mark = self.room.mark()
        for area in self._areas(place, mask):
            if all(self.put(part, area) for part in self._hardest_first(place)):
                return True
            self.room.undo(mark)
        return False

    def areas(self, place: PlaceDemand, family: Family | None, mask: int) -> list[int]:
        """Returns the domains whose totals are large enough for a place, the tightest first; without a family, the mask itself."""
        if family is None:
            return [mask]
        totals, demand = self.room.totals[family], place.demand
        enough = [domain for domain in self._domains(family, mask) if all(have >= need for have, need in zip(totals[domain], demand))]  # noqa: B905
        enough.sort(key=lambda domain: self.value(totals[domain]))
        return [family.masks[domain] & mask for domain in enough]

    def value(self, free: Vector) -> float:
        """Returns the value of free amounts: each resource counts the more the scarcer it is in the cluster."""
        known = self._values.get(free)
        if known is None:
            known = self._values[free] = sum(weight * have for weight, have in zip(self.problem.weights, free, strict=True))
        return known

    def _areas(self, place: PlaceDemand, mask: int) -> Iterator[int]:
        """Yields candidate areas: first those that honour the preference, then all that meet the requirement.

        Areas that could not hold every pod are left out.
        """
        tried: set[int] = set()
        for family in (place.preferred, None) if place.preferred is not None else (None,):
            for outer in self.areas(place, place.required, mask):
                for area in self.areas(place, family, outer):
                    if area not in tried and all(self.room.holds(leaf.type, leaf.count, area) for leaf in place.leaves):
                        tried.add(area)
                        yield area

    def _domains(self, family: Family, mask: int) -> list[int]:
        if mask == self.problem.everywhere:
            return list(range(len(family.masks)))
        if mask.bit_count() > len(family.masks):
            return [domain for domain, nodes in enumerate(family.masks) if nodes & mask]
        return [domain for domain in dict.fromkeys(family.home[node] for node in bits(mask)) if domain >= 0]

    def _hardest_first(self, place: PlaceDemand) -> list[PlaceDemand]:
        return sorted(place.places, key=lambda part: (part.required is None, -self.value(part.demand)))

    def _fill(self, leaf: Leaf, mask: int) -> bool:
        mark = self.room.mark()
        if self.pour(leaf, mask) == leaf.count:
            return True
        self.room.undo(mark)
        return False

    def pour(self, leaf: Leaf, mask: int) -> int:
        """Places as many pods of a podgroup as fit on nodes of a mask, the tightest node first; returns their number."""
        kind, count = leaf.type, leaf.count
        placed, states = 0, self.room.states_in(mask & kind.eligible)
        holding = {free: nodes for free, nodes in states.items() if self.room.capacity(kind, free)}
        worth = self.value(kind.need)
        while placed < count and holding:
            left = count - placed
            free = min(holding, key=lambda free: self.value(free) - min(self.room.capacity(kind, free), left) * worth)
            nodes, each = holding[free], min(self.room.capacity(kind, free), left)
            lowest = nodes & -nodes
            self.room.take(leaf.slot, kind, lowest.bit_length() - 1, each)
            placed += each
            if nodes == lowest:
                del holding[free]
            else:
                holding[free] = nodes ^ lowest
        return placed
