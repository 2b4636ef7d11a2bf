"""Bounds how many gangs of one shape a domain holds, to prove that all domains together hold fewer than there are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from grove_compiler.fit.greedy import Greedy
from grove_compiler.fit.problem import PlaceDemand, Problem
from grove_compiler.fit.room import Room, bits
from grove_compiler.fit.search import OutOfSteps, Search, Steps

MAX_TRIES = 8
"""At most this many counts are refuted in one domain before its bound is taken as it is."""


class Copies:
    """Computes upper bounds on the copies of a gang that fit into one domain, once for equivalent domains."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._known: dict[Hashable, tuple[int, int]] = {}
        self._domain_keys: dict[int, Hashable] = {}
        self._room = Room(problem)
        self._greedy = Greedy(problem, self._room)

    def refute(self, places: Sequence[PlaceDemand], steps: Steps) -> str:
        """Returns why the places cannot all stand at once, by those of the last one's shape; empty when that proves nothing."""
        last = places[-1]
        if last.required is None or not any(last.demand):
            return ""
        shape = last.shape
        needed = sum(place.shape == shape for place in places)
        held = 0
        for mask in last.required.masks:
            held += self._most(last, mask, needed, steps)
            if held >= needed:
                return ""
        return f"all domains of {last.required.key.name} together hold {held} such gangs" if held else "no domain holds such a gang"

    def _most(self, place: PlaceDemand, mask: int, needed: int, steps: Steps) -> int:
        """Returns an upper bound of the copies that fit into the domain, cut off at `needed`."""
        if mask not in self._domain_keys:
            self._domain_keys[mask] = self._domain_key(list(bits(mask)))
        key = place.shape, self._domain_keys[mask]
        known, limit = self._known.get(key, (0, 0))
        if known == limit < needed:  # cut off at that limit, so the bound may be higher
            known = self._count(place, mask, needed, steps)
            self._known[key] = known, needed
        return min(known, needed)

    def _domain_key(self, nodes: Sequence[int]) -> Hashable:
        """Returns a key that is equal only for domains of equal capacity: node by node, as much is free and inner domains divide alike."""
        problem = self.problem
        renamed: list[dict[int, int]] = [{} for _ in problem.families]
        return tuple(
            (
                problem.free[node],
                problem.node_kinds[node],
                tuple(
                    -1 if family.home[node] < 0 else names.setdefault(family.home[node], len(names))
                    for family, names in zip(problem.families.values(), renamed, strict=True)
                ),
            )
            for node in nodes
        )

    def _count(self, place: PlaceDemand, mask: int, needed: int, steps: Steps) -> int:
        totals = [sum(self.problem.free[node][position] for node in bits(mask)) for position in range(len(place.demand))]
        upper = min(needed, *(have // need for have, need in zip(totals, place.demand, strict=True) if need))
        lower = self._greedy_count(place, mask, upper)
        for _ in range(MAX_TRIES):
            if upper <= lower or not self._refuted(place, mask, upper, steps):
                break
            upper -= 1
        return upper

    def _greedy_count(self, place: PlaceDemand, mask: int, upper: int) -> int:
        inner = replace(place, required=None)
        count = 0
        while count < upper and self._greedy.put(inner, mask):
            count += 1
        self._room.undo(0)
        return count

    def _refuted(self, place: PlaceDemand, mask: int, copies: int, steps: Steps) -> bool:
        """Reports whether this many copies provably do not fit into the domain together."""
        share = Steps(steps.left // 8)
        try:
            return Search(self._room, [replace(place, required=None)] * copies, share, mask).run() is None
        except OutOfSteps:
            return False
        finally:
            steps.take_back(share)
