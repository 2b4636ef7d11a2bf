"""Why a gang does not fit: level by level, how many of its pods would, and which resource keeps the others out."""

from __future__ import annotations

from collections.abc import Sequence

from grove_compiler.fit.greedy import Greedy
from grove_compiler.fit.joint import DOES_NOT_FIT, FITS, Joint, Verdict
from grove_compiler.fit.problem import Place, PodType, Problem, Vector
from grove_compiler.fit.report import LevelReport, Short, Tight
from grove_compiler.fit.room import Room, bits
from grove_compiler.fit.search import Steps
from grove_compiler.gangs.gang import LEVELS, LevelName

STEPS_A_LEVEL = 20_000
AMPLE = 1 << 62
"""More of a resource than anybody asks for."""


class Explanation:
    """The levels of one gang on what is free, outermost first. `levels` ends with the gang as it is."""

    def __init__(self, problem: Problem, free: Sequence[Vector], place: Place) -> None:
        self.problem = problem.with_free(free)
        self.place = place
        self.levels: list[LevelReport] = []
        self.short: list[Short] = []
        self._explain()

    def _explain(self) -> None:
        kept: list[LevelName] = []
        self._level("nodes", [], ())
        for level in LEVELS:
            keys = [part.required.key.name for part in self.place.walk() if part.scope.level == level and part.required]
            if keys:
                kept.append(level)
                self._level(level, list(dict.fromkeys(keys)), tuple(kept))

    def _level(self, name: str, keys: list[str], levels: tuple[LevelName, ...]) -> None:
        place = self.problem.resized(self.place, {}, levels)
        verdict = self._verdict(self.problem, place)
        asked = sum(leaf.count for leaf in place.leaves)
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

    def _pour(self, place: Place) -> tuple[int, int]:
        """Returns how many pods of a place fit, were it the only one, and the area that holds them."""
        return _Pouring(self.problem, Room(self.problem)).pour(place, self.problem.everywhere)

    def _tightest(self, place: Place, level: str) -> tuple[Place, Tight, int] | None:
        """Returns the scope of a level that lacks the most pods although it has its best domain to itself."""
        worst: tuple[Place, Tight, int] | None = None
        for part in place.walk():
            if part.required is None or part.scope.level != level:
                continue
            asked = sum(leaf.count for leaf in part.leaves)
            pods, area = self._pour(part)
            if asked - pods > (worst[1].asked - worst[1].pods if worst else 0):
                worst = part, Tight(part.scope.name, _name(part, area), pods, asked), area
        return worst

    def _verdict(self, problem: Problem, place: Place) -> Verdict:
        return Joint(problem, Steps(STEPS_A_LEVEL)).add(place).verdict

    def _bound(self, place: Place) -> int:
        """Returns no more pods than this fit into one domain of the place, counting each kind of pod as if it were alone."""
        room = Room(self.problem)
        wanted: dict[PodType, int] = {}
        for leaf in place.leaves:
            if leaf.type is not None:
                wanted[leaf.type] = wanted.get(leaf.type, 0) + leaf.count
        areas = place.required.masks if place.required else [self.problem.everywhere]
        return max((sum(min(count, room.most(kind, area)) for kind, count in wanted.items()) for area in areas), default=0)

    def _short(self, place: Place, area: int) -> list[Short]:
        """Returns the resources each of which keeps the gang out even when there is enough of all others."""
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

    def _amounts(self, place: Place, area: int, position: int, resource: str) -> Short:
        kinds = [leaf.type for leaf in place.leaves if leaf.type and leaf.count and leaf.type.need[position]]
        eligible = 0
        for kind in kinds:
            eligible |= kind.eligible
        free = [self.problem.free[node][position] for node in bits(eligible & area)]
        per_pod = max(kind.need[position] for kind in kinds)
        return Short(resource, place.demand[position], sum(free), per_pod, max(free, default=0))


class _Pouring:
    """Places as many pods as it can, each scope's in the domain that holds most of them."""

    def __init__(self, problem: Problem, room: Room) -> None:
        self.room = room
        self.greedy = Greedy(problem, room)

    def pour(self, place: Place, mask: int) -> tuple[int, int]:
        """Returns how many pods were placed, and the area that the place took."""
        wanted = sum(leaf.count for leaf in place.leaves)
        mark = self.room.mark()
        most, best = -1, 0
        for area in self._areas(place, mask):
            number = self._into(place, area)
            if number > most:
                most, best = number, area
            if number == wanted:
                return number, area
            self.room.undo(mark)
        return (self._into(place, best), best) if best else (0, 0)

    def _into(self, place: Place, area: int) -> int:
        if place.type is not None:
            return self.greedy.pour(place, place.type, place.count, area)
        parts = sorted(place.places, key=lambda part: (part.required is None, -self.greedy.value(part.demand)))
        return sum(self.pour(part, area)[0] for part in parts)

    def _areas(self, place: Place, mask: int) -> list[int]:
        if place.required is None:
            return [mask]
        return [area for domain in place.required.masks if (area := domain & mask)]


def _name(place: Place, area: int) -> str:
    """Returns the name of the domain that an area lies in."""
    if place.required is None:
        return ""
    return next((name for name, mask in zip(place.required.names, place.required.masks, strict=True) if mask & area == area and area), "")


def pour(problem: Problem, room: Room, place: Place, mask: int) -> int:
    """Places as many pods of a place as it can and says how many."""
    return _Pouring(problem, room).pour(place, mask)[0]
