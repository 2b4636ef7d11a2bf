"""Searches for a placement of all gangs at once, or proves that there is none, within a limit of steps."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import field

from grove_compiler.fit.greedy import Greedy
from grove_compiler.fit.problem import Family, Leaf, PlaceDemand, PodType, Vector
from grove_compiler.fit.room import Room, Take, bits
from grove_compiler.fit.symmetry import Symmetry
from grove_compiler.record import record

MAX_ITEMS = 150
"""Searches with more scopes and podgroups than this are not begun: they would run out of steps."""
MAX_PODS_A_GROUP = 200


class OutOfSteps(Exception):
    """Ends a search that has used up its steps without an answer."""


@record
class Steps:
    """Limits the effort of a search. One step is one look at one node."""

    left: int
    used: int = 0

    def spend(self, number: int) -> None:
        """Uses up steps. Raises `OutOfSteps` when fewer are left."""
        if number > self.left:
            raise OutOfSteps
        self.left -= number
        self.used += number

    def share(self) -> Steps:
        """Returns a limit of half the remaining steps, for one search among several."""
        return Steps(self.left // 2)

    def take_back(self, share: Steps) -> None:
        """Subtracts the steps that a share has used."""
        self.left -= share.used
        self.used += share.used


@record
class _Item:
    """Represents a decision: the domain of a scope, or the nodes of a podgroup's pods. `parent` is the index of the enclosing scope."""

    place: PlaceDemand
    parent: int
    live: list[int] = field(default_factory=list)


class Search:
    """Searches exhaustively, depth first; of states that differ only by the names of nodes and domains, it visits one."""

    def __init__(self, room: Room, places: Sequence[PlaceDemand], steps: Steps, mask: int | None = None) -> None:
        """Prepares to place all of `places` into an empty room, on the nodes of a mask or, without one, on any."""
        self.problem = problem = room.problem
        self.room = room
        self.steps = steps
        self.greedy = Greedy(problem, room)
        self._mask = problem.everywhere if mask is None else mask
        self._nodes = list(bits(self._mask))
        self._items: list[_Item] = []
        for place in sorted(places, key=self._ease):
            self._add(place, -1)

    def run(self) -> list[Take] | None:
        """Returns a placement of all pods, or None if there provably is none. Raises `OutOfSteps`. Leaves the room empty."""
        too_many = any(isinstance(item.place, Leaf) and item.place.count > MAX_PODS_A_GROUP for item in self._items)
        if len(self._items) > MAX_ITEMS or too_many:
            raise OutOfSteps
        self._prepare()
        try:
            return list(self.room.takes) if self._decide(0) else None
        finally:
            self.room.undo(0)

    def _prepare(self) -> None:
        problem = self.problem
        self._note_live()
        self._areas = [self._mask] * len(self._items)
        self._needed = self._suffix_demands()
        self._total = [sum(problem.free[node][position] for node in self._nodes) for position in range(len(problem.resources))]
        families = [family for family in problem.families.values() if self._uses(family)]
        self._symmetry = Symmetry(problem, families, self._nodes)
        self._failed: set[Hashable] = set()

    def _decide(self, index: int) -> bool:
        if index == len(self._items):
            return True
        self.steps.spend(len(self._nodes))
        if any(need > have for need, have in zip(self._needed[index], self._total, strict=True)):
            return False
        item = self._items[index]
        key = (index, self._symmetry.form(self.room.free, [self._areas[scope] for scope in item.live]))
        if key in self._failed:
            return False
        if self._spread(index, item, item.place) if isinstance(item.place, Leaf) else self._open(index, item):
            return True
        self._failed.add(key)
        return False

    def _open(self, index: int, item: _Item) -> bool:
        """Tries each domain for a scope."""
        outer = self._areas[item.parent] if item.parent >= 0 else self._mask
        for area in self.greedy.areas(item.place, item.place.required, outer):
            self._areas[index] = area
            if self._decide(index + 1):
                return True
        return False

    def _spread(self, index: int, item: _Item, leaf: Leaf) -> bool:
        """Tries each distribution of a podgroup's pods over nodes."""
        outer = self._areas[item.parent] if item.parent >= 0 else self._mask
        mark, before = self.room.mark(), self._total
        for area in self.greedy.areas(leaf, leaf.required, outer):
            for spread in _spreads(self._groups(leaf.type, area), leaf.count):
                for node, count in spread:
                    self.room.take(leaf.slot, leaf.type, node, count)
                self._total = [have - need for have, need in zip(before, leaf.demand, strict=True)]
                if self._decide(index + 1):
                    return True
                self.room.undo(mark)
                self._total = before
        return False

    def _groups(self, kind: PodType, area: int) -> list[_Group]:
        """Groups the nodes that have room for a pod by interchangeability, the tightest first."""
        alike: dict[Hashable, list[int]] = {}
        for node in bits(area & kind.eligible):
            free = self.room.free[node]
            if self.room.capacity(kind, free):
                alike.setdefault(self._symmetry.like(node, free), []).append(node)
        worth = self.greedy.value(kind.need)
        ranked = []
        for nodes in alike.values():
            free = self.room.free[nodes[0]]
            capacity = self.room.capacity(kind, free)
            ranked.append((self.greedy.value(free) - capacity * worth, capacity, nodes))
        ranked.sort(key=lambda entry: entry[0])
        return [(capacity, nodes) for _, capacity, nodes in ranked]

    def _add(self, place: PlaceDemand, parent: int) -> None:
        if not any(place.demand):
            return
        self._items.append(_Item(place, parent))
        own = len(self._items) - 1
        for part in sorted(place.places, key=self._ease):
            self._add(part, own)

    def _ease(self, place: PlaceDemand) -> tuple[bool, float]:
        """Returns a sort key that is smaller for places that are harder to place."""
        return place.required is None, -self.greedy.value(place.demand)

    def _note_live(self) -> None:
        """Sets `live` of each item: the scopes opened before it that constrain it or a later item. Only they matter to the state's key."""
        for index, item in enumerate(self._items):
            live = {other.parent for other in self._items[index:] if 0 <= other.parent < index}
            item.live = sorted(scope for scope in live if self._narrows(scope))

    def _narrows(self, scope: int) -> bool:
        while scope >= 0:
            if self._items[scope].place.required is not None:
                return True
            scope = self._items[scope].parent
        return False

    def _suffix_demands(self) -> list[Vector]:
        total = (0,) * len(self.problem.resources)
        demands = [total]
        for item in reversed(self._items):
            if isinstance(item.place, Leaf):
                total = tuple(left + right for left, right in zip(total, item.place.demand, strict=True))
            demands.append(total)
        return demands[::-1]

    def _uses(self, family: Family) -> bool:
        return any(item.place.required is family for item in self._items)


_Group = tuple[int, list[int]]
"""How many pods each node of a group holds, and the group's interchangeable nodes."""


def _spreads(groups: Sequence[_Group], count: int) -> Iterator[list[tuple[int, int]]]:
    """Yields each distribution of `count` equal pods over nodes, one for each class of interchangeable nodes; full nodes first."""
    rest = [0]
    for capacity, nodes in reversed(groups):
        rest.append(rest[-1] + capacity * len(nodes))
    rest.reverse()
    if count <= rest[0]:
        yield from _continue(groups, rest, (0, 0, count), count, [])


def _continue(
    groups: Sequence[_Group], rest: Sequence[int], at: tuple[int, int, int], left: int, chosen: list[tuple[int, int]]
) -> Iterator[list[tuple[int, int]]]:
    """Yields the ways to distribute the pods that are `left`, from `at` on: the group, the position in it and the limit of a node there.

    A node takes no more than the one before it in its group: other orders would differ by names alone.
    """
    if not left:
        yield list(chosen)
        return
    group, position, most = at
    while left <= rest[group]:
        capacity, nodes = groups[group]
        most = min(most, capacity)
        if position < len(nodes):
            if left > most * (len(nodes) - position) + rest[group + 1]:
                return
            for number in range(min(most, left), 0, -1):
                chosen.append((nodes[position], number))
                yield from _continue(groups, rest, (group, position + 1, number), left - number, chosen)
                chosen.pop()
        group, position, most = group + 1, 0, left
