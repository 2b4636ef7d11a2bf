"""Admits gangs one after the other: a gang is admitted if it can be placed together with all admitted ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, NamedTuple

from grove_compiler.fit.bounds import Bounds
from grove_compiler.fit.copies import Copies
from grove_compiler.fit.greedy import Greedy
from grove_compiler.fit.problem import PlaceDemand, Problem
from grove_compiler.fit.room import Room, Take
from grove_compiler.fit.search import OutOfSteps, Search, Steps

Verdict = Literal["fits", "does not fit", "unknown"]
FITS: Verdict = "fits"
DOES_NOT_FIT: Verdict = "does not fit"
UNKNOWN: Verdict = "unknown"


class GangVerdict(NamedTuple):
    """Represents the verdict on one gang. `reason` proves that it does not fit or names what was tried; `moved`: others made room."""

    verdict: Verdict
    reason: str = ""
    moved: bool = False


class Joint:
    """Holds the admitted gangs, and a placement of all of them in `room`.

    Each answer is about a gang together with the admitted ones: "fits" comes with a placement of all, "does not fit" with a proof that
    there is none.
    """

    def __init__(self, problem: Problem, steps: Steps) -> None:
        self.problem = problem
        self.steps = steps
        self.room = Room(problem)
        self.admitted: list[PlaceDemand] = []
        self._greedy = Greedy(problem, self.room)
        self._bounds = Bounds(problem)
        self._copies = Copies(problem)
        self._closed: dict[Hashable, GangVerdict] = {}

    def add(self, place: PlaceDemand) -> GangVerdict:
        """Admits a gang if it can be placed beside the admitted ones, and returns the verdict."""
        known = self._closed.get(place.shape)
        if known is not None:  # gangs are only ever added
            return known
        if self._greedy.put(place, self.problem.everywhere):
            self.admitted.append(place)
            return GangVerdict(FITS)
        answer = self._place_or_refute(place)
        if answer.verdict == FITS:
            self.admitted.append(place)
        else:
            self._closed[place.shape] = answer
        return answer

    def _place_or_refute(self, place: PlaceDemand) -> GangVerdict:
        """Tries bounds, other orders and an exhaustive search, from the cheapest to the most expensive."""
        places = [*self.admitted, place]
        reason = self._bounds.refute(self.admitted, place) or self._copies.refute(places, self.steps)
        if reason:
            return GangVerdict(DOES_NOT_FIT, reason)
        if self._reorder(places):
            return GangVerdict(FITS, moved=True)
        share = self.steps.share()
        try:
            result = Search(Room(self.problem), places, share).run()
        except OutOfSteps:
            return GangVerdict(UNKNOWN, f"not proven within {self.steps.used + share.used} steps")
        finally:
            self.steps.take_back(share)
        if result is None:
            return GangVerdict(DOES_NOT_FIT, "every placement was tried")
        self._replace(result, places)
        return GangVerdict(FITS, moved=True)

    def _reorder(self, places: Sequence[PlaceDemand]) -> bool:
        """Reports whether a new placement of all gangs succeeds, with the largest or the most constrained ones first."""
        room = Room(self.problem)
        greedy = Greedy(self.problem, room)
        by_size = sorted(places, key=lambda place: -greedy.value(place.demand))
        by_bonds = sorted(by_size, key=lambda place: min(_spread(part) for part in place.walk()))
        for order in (by_size, by_bonds):
            try:
                self.steps.spend(len(places) * (1 + len(room.free) // 8))
            except OutOfSteps:
                return False
            if all(greedy.put(place, self.problem.everywhere) for place in order):
                self._replace(room.takes, places)
                return True
            room.undo(0)
        return False

    def _replace(self, takes: Iterable[Take], places: Sequence[PlaceDemand]) -> None:
        kinds = {leaf.slot: leaf.type for place in places for leaf in place.leaves}
        self.room.copy_from(list(takes), kinds)


def _spread(place: PlaceDemand) -> int:
    """Returns the node count of the largest domain in which a place may stand; the fewer, the more it is constrained."""
    return place.required.largest if place.required else 1 << 30
