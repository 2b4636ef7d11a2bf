"""Placement by trying everything, written without a look at the search: the oracle for small cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

from grove_compiler.fit.cluster import ClusterNode
from grove_compiler.fit.eligibility import Requirements
from grove_compiler.fit.gang import ConstraintScope, GangDemand
from grove_compiler.kube.pod_request import request

Free = tuple[tuple[int, ...], ...]


class BruteForce:
    """All placements of gangs, as the sets of free amounts that they leave."""

    def __init__(self, cluster: Sequence[ClusterNode], gangs: Sequence[GangDemand]) -> None:
        self.cluster = cluster
        self.resources = sorted({resource for gang in gangs for part in gang.scope.podgroups for resource in request(part.pod_spec)})
        self.start: Free = tuple(tuple(node.free(resource) for resource in self.resources) for node in cluster)
        self.gangs = gangs
        self._left: dict[tuple[int, ...], set[Free]] = {(): {self.start}}

    def all_fit(self, chosen: Sequence[int]) -> bool:
        """Whether these gangs can all stand at once."""
        return bool(self._left_by(tuple(chosen)))

    def _left_by(self, chosen: tuple[int, ...]) -> set[Free]:
        """What can be left once these gangs stand. Remembered: most questions add one gang to those of an earlier one."""
        if chosen not in self._left:
            *before, last = chosen
            self._left[chosen] = {after for free in self._left_by(tuple(before)) for after in self._after(free, self.gangs[last])}
        return self._left[chosen]

    def verdicts(self) -> list[bool]:
        """For each gang whether it fits beside those before it that fit."""
        inside: list[int] = []
        answers = []
        for number in range(len(self.gangs)):
            fits = self.all_fit([*inside, number])
            answers.append(fits)
            if fits:
                inside.append(number)
        return answers

    def _after(self, free: Free, gang: GangDemand) -> set[Free]:
        """What can be left once the gang stands: pods are put on nodes in all ways, then ways that break a constraint are dropped."""
        groups = gang.scope.podgroups
        found = set()
        for spots, after in self._assignments(free, groups):
            if self._keeps(gang.scope, dict(zip(map(id, groups), spots, strict=True))):
                found.add(after)
        return found

    def _assignments(self, free: Free, groups: Sequence[ConstraintScope]) -> Iterator[tuple[list[tuple[int, ...]], Free]]:
        if not groups:
            yield [], free
            return
        first, *others = groups
        asked = [request(first.pod_spec).get(resource, 0) for resource in self.resources]
        requirements = Requirements(first.pod_spec)
        eligible = [number for number, node in enumerate(self.cluster) if not requirements.objection(node)]
        for spots in combinations_with_replacement(eligible, first.minimum):
            after = [list(row) for row in free]
            for spot in spots:
                for position, need in enumerate(asked):
                    after[spot][position] -= need
            if all(have >= 0 for row in after for have in row):
                for rest, final in self._assignments(tuple(map(tuple, after)), others):
                    yield [spots, *rest], final

    def _keeps(self, scope: ConstraintScope, spots: dict[int, tuple[int, ...]]) -> bool:
        used = {spot for part in scope.podgroups for spot in spots[id(part)]}
        if scope.required is not None and used:
            nodes = [self.cluster[spot] for spot in used]
            if any(label not in node.labels for node in nodes for label in scope.required.needed):
                return False
            if len({tuple(node.labels[label] for label in scope.required.labels) for node in nodes}) > 1:
                return False
        return all(self._keeps(inner, spots) for inner in scope.scopes)
