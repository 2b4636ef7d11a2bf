"""Turns nodes and gangs into a placement problem in numbers: bit masks of nodes, vectors of requests, trees of places.

Everything here is built once and only read afterwards. Node `n` is the bit `1 << n` of every mask.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property

from grove_compiler.fit.cluster import Cluster, ClusterNode
from grove_compiler.fit.eligibility import Objection, Requirements
from grove_compiler.fit.gang import ConstraintScope, DomainKey, GangDemand
from grove_compiler.gangs.gang import LEVELS, LevelName
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.pod_request import EVERY_IP, Amounts, HostPort, host_ports, request
from grove_compiler.record import record

Vector = tuple[int, ...]
PORT = "host port "


class Family:
    """Holds the domains of one key. A node is in one of them or, if it lacks a label, in none (`home` is -1). `largest` counts nodes."""

    __slots__ = ("home", "key", "largest", "masks", "names")

    def __init__(self, key: DomainKey, cluster: Cluster) -> None:
        self.key = key
        domains: dict[tuple[str, ...], int] = {}  # the nodes of each, in the order of their first ones
        inside = [node if all(label in node.labels for label in key.needed) else None for node in cluster]
        places = [None if node is None else tuple(node.labels[label] for label in key.labels) for node in inside]
        for number, place in enumerate(places):
            if place is not None:
                domains[place] = domains.get(place, 0) | 1 << number
        numbers = {place: number for number, place in enumerate(domains)}
        self.names = [place[-1] for place in domains]
        self.masks = list(domains.values())
        self.home = [-1 if place is None else numbers[place] for place in places]
        self.largest = max((mask.bit_count() for mask in self.masks), default=0)

    def totals(self, free: Sequence[Vector]) -> list[Vector]:
        """Sums the nodes' free amounts up by domain."""
        width = len(free[0]) if free else 0
        sums = [[0] * width for _ in self.masks]
        for node, domain in enumerate(self.home):
            if domain >= 0:
                for position, have in enumerate(free[node]):
                    sums[domain][position] += have
        return [tuple(total) for total in sums]


class PodType:
    """Represents pods with the same requests that may run on the same nodes. `eligible` is a mask, `need` a vector of the requests."""

    __slots__ = ("eligible", "need", "number", "objections", "requests")

    def __init__(self, number: int, requests: Amounts, eligible: int, objections: Counter[Objection]) -> None:
        self.number = number
        self.requests = requests
        self.eligible = eligible
        self.objections = objections
        self.need: Vector = ()


@record
class PlaceDemand:
    """Represents a scope in numbers: its pods need one domain of `required`, and together request `demand`."""

    scope: ConstraintScope
    required: Family | None
    preferred: Family | None
    places: list[PlaceDemand]
    demand: Vector

    @property
    def leaves(self) -> list[Leaf]:
        return [leaf for place in self.places for leaf in place.leaves]

    @property
    def pod_counts(self) -> Counter[PodType]:
        """Returns the number of pods of each type that has any."""
        counts: Counter[PodType] = Counter()
        for leaf in self.leaves:
            counts[leaf.type] += leaf.count
        return +counts

    def walk(self) -> Iterator[PlaceDemand]:
        """Yields this place and all places in it, outermost first."""
        yield self
        for place in self.places:
            yield from place.walk()

    @property
    def shape(self) -> Hashable:
        """Returns a key that is equal for places of which each can stand wherever the other can."""
        return self.required and self.required.key, tuple(sorted((place.shape for place in self.places), key=repr))


@record
class Leaf(PlaceDemand):
    """Represents a podgroup: `count` pods of one type. `slot` is unique among the leaves of a problem."""

    type: PodType
    count: int
    slot: int

    @property
    def leaves(self) -> list[Leaf]:
        return [self]

    @property
    def shape(self) -> Hashable:
        return self.required and self.required.key, self.type.number, self.count


class Problem:
    """Holds all that placement needs of nodes and gangs. Raises `QuantityError` for a request that cannot be parsed."""

    def __init__(self, cluster: Cluster, gangs: Sequence[GangDemand]) -> None:
        self.cluster = cluster
        self.everywhere = (1 << len(cluster)) - 1
        self.families: dict[DomainKey, Family] = {}
        self.types: list[PodType] = []
        self._by_key: dict[str, PodType] = {}
        self._by_spec: dict[int, PodType] = {}
        podgroups = [group for gang in gangs for group in gang.scope.podgroups]
        taken = {port for node in cluster for port in node.ports}
        self.addresses = taken.union(*(host_ports(group.pod_spec) for group in podgroups))
        kinds = [self._type(group.pod_spec) for group in podgroups]  # all of them before any vector: their resources are its columns
        self.resources = sorted({resource for kind in self.types for resource in kind.requests})
        for kind in self.types:
            kind.need = tuple(kind.requests.get(resource, 0) for resource in self.resources)
        slots = enumerate(kinds)
        self.gangs = [self._place(gang.scope, slots) for gang in gangs]
        self._set_free([tuple(self._free(node, resource) for resource in self.resources) for node in cluster])

    def resized(self, place: PlaceDemand, sizes: Mapping[int, int], levels: Collection[LevelName] = LEVELS) -> PlaceDemand:
        """Returns a copy with other counts by slot, in which only constraints of the given levels are required."""
        required = place.required if place.scope.level in levels else None
        if isinstance(place, Leaf):
            return _leaf(place.scope, required, place.preferred, place.type, sizes.get(place.slot, place.count), place.slot)
        return self._nest(place.scope, required, place.preferred, [self.resized(part, sizes, levels) for part in place.places])

    @cached_property
    def node_kinds(self) -> list[int]:
        """Numbers the nodes so that those with equal numbers are eligible for the same types of pods."""
        numbers: dict[Hashable, int] = {}
        choosy = {kind.eligible for kind in self.types if kind.eligible != self.everywhere}
        kinds = (tuple([eligible >> node & 1 for eligible in choosy]) for node in range(len(self.cluster)))
        return [numbers.setdefault(kind, len(numbers)) for kind in kinds]

    def family(self, key: DomainKey | None) -> Family | None:
        """Returns the domains of a key, computed once; None for no key."""
        if key is not None and key not in self.families:
            self.families[key] = Family(key, self.cluster)
        return None if key is None else self.families[key]

    def with_free(self, free: Sequence[Vector]) -> Problem:
        """Returns a copy of the problem with other free amounts."""
        other = copy(self)
        other._set_free(list(free))
        return other

    def _set_free(self, free: list[Vector]) -> None:
        """Sets the free amounts of each node, and derives the initial state of every room and every search.

        `states` are the nodes by their free vector, `totals` the free vectors of the domains, `weights` the value of one unit of each
        resource: it rises with the demand and falls with the supply. Derived here once because a run creates hundreds of rooms, and
        deriving it in each of them took a quarter of the time.
        """
        self.free = free
        self.states: dict[Vector, int] = {}
        for node, have in enumerate(free):
            self.states[have] = self.states.get(have, 0) | 1 << node
        self.totals = {family: family.totals(free) for family in self.families.values()}
        supply = [sum(column) for column in zip(*free, strict=True)] or [0] * len(self.resources)
        demand = [sum(column) for column in zip(*(gang.demand for gang in self.gangs), strict=True)] or supply
        self.weights = [requested / have**2 if have else 0.0 for requested, have in zip(demand, supply, strict=True)]

    def _place(self, scope: ConstraintScope, slots: Iterator[tuple[int, PodType]]) -> PlaceDemand:
        required, preferred = self.family(scope.required), self.family(scope.preferred)
        if scope.level == "podgroup":
            slot, kind = next(slots)
            return _leaf(scope, required, preferred, kind, scope.minimum, slot)
        return self._nest(scope, required, preferred, [self._place(inner, slots) for inner in scope.scopes])

    def _nest(self, scope: ConstraintScope, required: Family | None, preferred: Family | None, places: list[PlaceDemand]) -> PlaceDemand:
        nothing = (0,) * len(self.resources)  # the width of a vector, for scopes without pods
        demand = tuple(map(sum, zip(nothing, *(part.demand for part in places), strict=True)))
        return PlaceDemand(scope, required, preferred, places, demand)

    def _type(self, spec: Manifest) -> PodType:
        known = self._by_spec.get(id(spec))  # gangs share specs, and live longer than this table, so that an id stays its own
        if known is None:
            requirements = Requirements(spec)
            requests = request(spec) | {resource: 1 for port in host_ports(spec) for resource in self._conflicts(port)}
            key = f"{sorted(requests.items())} {requirements.key}"
            if key not in self._by_key:
                self._by_key[key] = self._add_type(requests, requirements)
            known = self._by_spec[id(spec)] = self._by_key[key]
        return known

    def _add_type(self, requests: Amounts, requirements: Requirements) -> PodType:
        objections = [requirements.objection(node) for node in self.cluster]
        eligible = sum(1 << number for number, objection in enumerate(objections) if not objection)
        kind = PodType(len(self.types), requests, eligible, Counter(filter(None, objections)))
        self.types.append(kind)
        return kind

    def _conflicts(self, port: HostPort) -> list[str]:
        """Maps a host port to resources of which every node has one; a port on 0.0.0.0 takes that port of every address in the problem."""
        address, protocol, number = port
        others = [known[0] for known in self.addresses if known[1:] == port[1:]] if address == EVERY_IP else []
        return [f"{PORT}{own}:{number}/{protocol}" for own in sorted({address, *others})]

    def _free(self, node: ClusterNode, resource: str) -> int:
        if not resource.startswith(PORT):
            return node.free(resource)
        return 0 if any(resource in self._conflicts(port) for port in node.ports) else 1


def _leaf(scope: ConstraintScope, required: Family | None, preferred: Family | None, kind: PodType, count: int, slot: int) -> Leaf:
    return Leaf(scope, required, preferred, [], tuple(count * need for need in kind.need), kind, count, slot)
