"""Explains why a gang does not fit: level by level, how many of its pods would, and which resource keeps the others out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grove_compiler.fit.greedy import Greedy
from grove_compiler.fit.joint import DOES_NOT_FIT, FITS, Joint, Verdict
from grove_compiler.fit.problem import Leaf, PlaceDemand, Problem, Vector
from grove_compiler.fit.report import LevelReport, Short, Tight
from grove_compiler.fit.room import Room, bits, union
from grove_compiler.fit.search import Steps
from grove_compiler.gangs.gang import LEVELS, LevelName

STEPS_A_LEVEL = 20_000
AMPLE = 1 << 62
"""More of a resource than all pods together request."""


class Explanation:
    """Evaluates one gang on the free amounts level by level, outermost first. `levels` ends with the gang under all its constraints."""

    def __init__(self, problem: Problem, free: Sequence[Vector], place: PlaceDemand) -> None:
        self.problem = problem.with_free(free)
        self.place = place
        self.levels: list[LevelReport] = []
        self.short: list[Short] = []
        self._explain()

    def _explain(self) -> None:
        enforced: list[LevelName] = []
        self._level("nodes", [], ())
        for level in LEVELS:
            keys = [part.required.key.name for part in self.place.walk() if part.scope.level == level and part.required]
            if keys:
                enforced.append(level)
                self._level(level, list(dict.fromkeys(keys)), tuple(enforced))

    def _level(self, name: str, keys: list[str], levels: tuple[LevelName, ...]) -> None:
        place = self.problem.resized(self.place, {}, levels)
        verdict = self._verdict(self.problem, place)
        asked = place.pod_counts.total()
        pods, area = self._pour(place)
        if verdict == FITS:
            pods = asked
        bound = asked - 1 if verdict == DOES_NOT_FIT else asked
        most = pods >= min(bound, self._bound(place)) or len([leaf for leaf in place.leaves if leaf.count]) == 1
        report = LevelReport(name, keys, verdict, pods, asked, most)
        if verdict != FITS and not any(level.verdict != FITS for level in self.levels):
            part, report.tight, area = self._tightest(place, name) or (place, None, area)
            self.short = self._short(part, area)
        self.levels.append(report)

    def _pour(self, place: PlaceDemand) -> tuple[int, int]:
        """Returns how many pods of a place fit if it is the only one, and the area that holds them."""
        return Pouring(self.problem, Room(self.problem)).pour(place, self.problem.everywhere)

    def _tightest(self, place: PlaceDemand, level: str) -> tuple[PlaceDemand, Tight, int] | None:
        """Returns the scope of a level that lacks the most pods although it has its best domain to itself."""
        worst: tuple[PlaceDemand, Tight, int] | None = None
        for part in place.walk():
            if part.required is None or part.scope.level != level:
                continue
            asked = part.pod_counts.total()
            pods, area = self._pour(part)
            if asked - pods > (worst[1].asked - worst[1].pods if worst else 0):
                worst = part, Tight(part.scope.name, _name(part, area), pods, asked), area
        return worst

    def _verdict(self, problem: Problem, place: PlaceDemand) -> Verdict:
        return Joint(problem, Steps(STEPS_A_LEVEL)).add(place).verdict

    def _bound(self, place: PlaceDemand) -> int:
        """Returns an upper bound of the pods that fit into one domain of the place, with each type of pod counted as if alone."""
        room = Room(self.problem)
        areas = place.required.masks if place.required else [self.problem.everywhere]
        return max((sum(min(count, room.most(kind, area)) for kind, count in place.pod_counts.items()) for area in areas), default=0)

    def _short(self, place: PlaceDemand, area: int) -> list[Short]:
        """Returns the resources of which each alone keeps the gang out, even when there is enough of all others."""
        result = []
        for position, resource in enumerate(self.problem.resources):
            if not place.demand[position]:
                continue
            ample = [tuple(have if other == position else AMPLE for other, have in enumerate(free)) for free in self.problem.free]
            if self._verdict(self.problem.with_free(ample), place) == DOES_NOT_FIT:
                result.append(self._amounts(place, area, position, resource))
        everything = [(AMPLE,) * len(self.problem.resources)] * len(self.problem.free)
        if result and self._verdict(self.problem.with_free(everything), place) == DOES_NOT_FIT:
            return []  # no resource would help: there is no node or domain for it
        return result

    def _amounts(self, place: PlaceDemand, area: int, position: int, resource: str) -> Short:
        kinds = [kind for kind in place.pod_counts if kind.need[position]]
        free = [self.problem.free[node][position] for node in bits(union(kind.eligible for kind in kinds) & area)]
        per_pod = max(kind.need[position] for kind in kinds)
        return Short(resource, place.demand[position], sum(free), per_pod, max(free, default=0))


class Pouring:
    """Places as many pods as possible, each scope's in the domain that holds most of them.

    `homes` are the nodes of slots that have pods already: their scopes stay in the domains that they have.
    """

    def __init__(self, problem: Problem, room: Room, homes: Mapping[int, set[int]] | None = None) -> None:
        self.room = room
        self.greedy = Greedy(problem, room)
        self.homes = homes or {}

    def pour(self, place: PlaceDemand, mask: int) -> tuple[int, int]:
        """Places pods of a place on nodes of a mask; returns how many were placed and the area that they took."""
        count = place.pod_counts.total()
        mark = self.room.mark()
        most, best = -1, 0
        for area in self._areas(place, mask):
            number = self._into(place, area)
            if number > most:
                most, best = number, area
            if number == count:
                return number, area
            self.room.undo(mark)
        return (self._into(place, best), best) if best else (0, 0)

    def _into(self, place: PlaceDemand, area: int) -> int:
        if isinstance(place, Leaf):
            return self.greedy.pour(place, area)
        parts = sorted(place.places, key=lambda part: (part.required is None, -self.greedy.value(part.demand)))
        return sum(self.pour(part, area)[0] for part in parts)

    def _areas(self, place: PlaceDemand, mask: int) -> list[int]:
        if place.required is None:
            return [mask]
        home = next((node for leaf in place.leaves for node in self.homes.get(leaf.slot, ())), None)
        domains = place.required.masks if home is None else [place.required.masks[place.required.home[home]]]
        return [area for domain in domains if (area := domain & mask)]


def _name(place: PlaceDemand, area: int) -> str:
    """Returns the name of the domain that an area lies in."""
    if place.required is None:
        return ""
    return next((name for name, mask in zip(place.required.names, place.required.masks, strict=True) if mask & area == area and area), "")
