"""Tracks what is free on each node while pods are placed, and can undo every step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import or_
from typing import NamedTuple

from grove_compiler.fit.problem import PodType, Problem, Vector


class Take(NamedTuple):
    """Represents `number` pods of a slot on a node."""

    slot: int
    node: int
    pods: int


def bits(mask: int) -> Iterator[int]:
    """Yields the numbers of the nodes in a mask."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def union(masks: Iterable[int]) -> int:
    """Returns the union of node masks."""
    return reduce(or_, masks, 0)


class Room:
    """Keeps free amounts per node, nodes by free amounts, and totals per domain. `takes` are the pods placed so far, in order."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.free = list(problem.free)
        self.states = dict(problem.states)
        self.totals = {family: list(totals) for family, totals in problem.totals.items()}
        self.takes: list[Take] = []
        self._before: list[Vector] = []
        self._capacities: list[dict[Vector, int]] = [{} for _ in problem.types]

    def capacity(self, kind: PodType, free: Vector) -> int:
        """Returns how many pods of a type fit into a free vector."""
        known = self._capacities[kind.number]
        if free not in known:
            known[free] = min(have // need for have, need in zip(free, kind.need, strict=True) if need)
        return known[free]

    def take(self, slot: int, kind: PodType, node: int, count: int) -> None:
        """Places pods of a type on a node; the caller has checked its capacity."""
        before = self.free[node]
        self._before.append(before)
        self.takes.append(Take(slot, node, count))
        self._change(node, before, tuple(have - count * need for have, need in zip(before, kind.need, strict=True)))

    def mark(self) -> int:
        """Returns a position in `takes` for `undo`."""
        return len(self.takes)

    def undo(self, mark: int) -> None:
        """Removes all pods that were placed after `mark`."""
        while len(self.takes) > mark:
            node = self.takes.pop().node
            self._change(node, self.free[node], self._before.pop())

    def states_in(self, mask: int) -> dict[Vector, int]:
        """Groups the nodes of a mask by their free vector."""
        if mask.bit_count() > len(self.states):
            return {free: part for free, nodes in self.states.items() if (part := nodes & mask)}
        result: dict[Vector, int] = {}
        for node in bits(mask):
            free = self.free[node]
            result[free] = result.get(free, 0) | 1 << node
        return result

    def holds(self, kind: PodType, count: int, mask: int) -> bool:
        """Reports whether the nodes of a mask have the capacity for that many pods of a type alone."""
        for free, nodes in self.states_in(mask & kind.eligible).items():
            count -= self.capacity(kind, free) * nodes.bit_count()
            if count <= 0:
                return True
        return count <= 0

    def most(self, kind: PodType, mask: int) -> int:
        """Returns how many pods of a type alone fit on the nodes of a mask."""
        return sum(self.capacity(kind, free) * nodes.bit_count() for free, nodes in self.states_in(mask & kind.eligible).items())

    def copy_from(self, takes: Iterable[Take], kinds: Mapping[int, PodType]) -> None:
        """Replaces the placement by the given one; `kinds` are the types of the slots."""
        self.undo(0)
        for take in takes:
            self.take(take.slot, kinds[take.slot], take.node, take.pods)

    def _change(self, node: int, old: Vector, new: Vector) -> None:
        self.free[node] = new
        rest = self.states[old] & ~(1 << node)
        if rest:
            self.states[old] = rest
        else:
            del self.states[old]
        self.states[new] = self.states.get(new, 0) | 1 << node
        for family, totals in self.totals.items():
            domain = family.home[node]
            if domain >= 0:
                totals[domain] = tuple(total + after - before for total, after, before in zip(totals[domain], new, old, strict=True))
