"""A placement problem in numbers: nodes and domains as bit masks, requests as vectors, gangs as trees of places.

Everything here is built once and only read afterwards. Node `n` is the bit `1 << n` of every mask.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from grove_compiler.fit.cluster import Cluster, ClusterNode
from grove_compiler.fit.eligibility import Requirements
from grove_compiler.fit.gang import DomainKey, Gang, Scope
from grove_compiler.gangs.gang import LEVELS, LevelName
from grove_compiler.graph.node import Manifest
from grove_compiler.kube.pod_request import EVERY_IP, Amounts, HostPort, host_ports, request

Vector = tuple[int, ...]
PORT = "host port "


class Family:
    """The domains of one key. Every node is in one of them or, when it lacks a label, in none (`home` is -1). `largest` counts nodes."""

    __slots__ = ("home", "key", "largest", "masks", "names")

    def __init__(self, key: DomainKey, cluster: Cluster) -> None:
        self.key = key
        self.names: list[str] = []
        self.masks: list[int] = []
        self.home: list[int] = []
        result: dict[tuple[str, ...], int] = {}
        for number, node in enumerate(cluster):
            if not all(label in node.labels for label in key.needed):
                self.home.append(-1)
                continue
            domain = result.setdefault(tuple(node.labels[label] for label in key.labels), len(result))
            if domain == len(self.masks):
                self.masks.append(0)
                self.names.append(node.labels[key.name])
            self.masks[domain] |= 1 << number
            self.home.append(domain)
        self.largest = max((mask.bit_count() for mask in self.masks), default=0)


class PodType:
    """Pods that ask for the same and may run on the same nodes."""

    __slots__ = ("asked", "eligible", "need", "number", "objections")

    def __init__(self, number: int, asked: Amounts, eligible: int, objections: dict[str, int]) -> None:
        self.number = number
        self.asked = asked
        self.eligible = eligible
        self.objections = objections
        self.need: Vector = ()


@dataclass(slots=True, eq=False)
class Place:
    """A scope in numbers: its pods need one domain of `required`. Leaves have a type and a count; `slot` is unique among leaves."""

    scope: Scope
    required: Family | None
    preferred: Family | None
    places: list[Place]
    type: PodType | None = None
    count: int = 0
    slot: int = -1
    demand: Vector = ()

    @property
    def leaves(self) -> list[Place]:
        if self.type is not None:
            return [self]
        return [leaf for place in self.places for leaf in place.leaves]

    def walk(self) -> Iterator[Place]:
        """This place and all in it, outermost first."""
        yield self
        for place in self.places:
            yield from place.walk()

    @property
    def shape(self) -> Hashable:
        """Equal for places that can stand wherever the other can."""
        family = None if self.required is None else self.required.key
        if self.type is not None:
            return family, self.type.number, self.count
        return family, tuple(sorted((place.shape for place in self.places), key=repr))


class Problem:
    """All that placement needs of nodes and gangs. Raises `QuantityError` for a request that cannot be read."""

    def __init__(self, cluster: Cluster, gangs: Sequence[Gang]) -> None:
        self.cluster = cluster
        self.everywhere = (1 << len(cluster)) - 1
        self.families: dict[DomainKey, Family] = {}
        self.types: list[PodType] = []
        self._by_key: dict[str, PodType] = {}
        self._by_spec: dict[int, tuple[Manifest, PodType]] = {}
        self._node_kinds: list[int] | None = None
        self.slots = 0
        self.addresses = {port for node in cluster for port in node.ports} | _ports(gangs)
        places = [self._place(gang.scope) for gang in gangs]
        self.resources = sorted({resource for kind in self.types for resource in kind.asked})
        for kind in self.types:
            kind.need = self.vector(kind.asked)
        self.gangs = [_weighed(place, len(self.resources)) for place in places]
        self.free = [tuple(self._free(node, resource) for resource in self.resources) for node in cluster]

    def vector(self, asked: Amounts) -> Vector:
        """Amounts in the order of `resources`."""
        return tuple(asked.get(resource, 0) for resource in self.resources)

    def resized(self, place: Place, sizes: Mapping[int, int], levels: Collection[LevelName] = LEVELS) -> Place:
        """Returns a copy with other counts by slot, in which only constraints of the given levels are required."""
        return _weighed(self._copy(place, sizes, levels), len(self.resources))

    def _copy(self, place: Place, sizes: Mapping[int, int], levels: Collection[LevelName]) -> Place:
        required = place.required if place.scope.level in levels else None
        places = [self._copy(part, sizes, levels) for part in place.places]
        count = sizes.get(place.slot, place.count)
        return Place(place.scope, required, place.preferred, places, place.type, count, place.slot)

    @property
    def node_kinds(self) -> list[int]:
        """A number for each node, equal for those that all types of pods may run on alike."""
        if self._node_kinds is None:
            numbers: dict[Hashable, int] = {}
            choosy = {kind.eligible for kind in self.types if kind.eligible != self.everywhere}
            kinds = (tuple([eligible >> node & 1 for eligible in choosy]) for node in range(len(self.cluster)))
            self._node_kinds = [numbers.setdefault(kind, len(numbers)) for kind in kinds]
        return self._node_kinds

    def family(self, key: DomainKey | None) -> Family | None:
        """Returns the domains of a key, made once."""
        if key is None:
            return None
        if key not in self.families:
            self.families[key] = Family(key, self.cluster)
        return self.families[key]

    def with_free(self, free: Sequence[Vector]) -> Problem:
        """Returns the same problem with other amounts free."""
        other = copy(self)
        other.free = list(free)
        return other

    def _place(self, scope: Scope) -> Place:
        required, preferred = self.family(scope.required), self.family(scope.preferred)
        if scope.level != "podgroup":
            return Place(scope, required, preferred, [self._place(inner) for inner in scope.scopes])
        self.slots += 1
        return Place(scope, required, preferred, [], self._type(scope.pod_spec), scope.minimum, self.slots - 1)

    def _type(self, spec: Manifest) -> PodType:
        known = self._by_spec.get(id(spec))
        if known is not None:
            return known[1]
        requirements = Requirements(spec)
        asked = request(spec) | {resource: 1 for port in host_ports(spec) for resource in self._conflicts(port)}
        key = f"{sorted(asked.items())} {requirements.key}"
        if key not in self._by_key:
            self._by_key[key] = self._judge(asked, requirements)
        self._by_spec[id(spec)] = (spec, self._by_key[key])  # the spec is kept, so that its id stays its own
        return self._by_key[key]

    def _judge(self, asked: Amounts, requirements: Requirements) -> PodType:
        eligible = 0
        objections: dict[str, int] = {}
        for number, node in enumerate(self.cluster):
            objection = requirements.objection(node)
            if objection:
                objections[objection] = objections.get(objection, 0) + 1
            else:
                eligible |= 1 << number
        kind = PodType(len(self.types), asked, eligible, objections)
        self.types.append(kind)
        return kind

    def _conflicts(self, port: HostPort) -> list[str]:
        """Returns a port as resources of which every node has one: a port on every address takes it on each address that anybody names."""
        address, protocol, number = port
        others = [known[0] for known in self.addresses if known[1:] == port[1:]] if address == EVERY_IP else []
        return [f"{PORT}{own}:{number}/{protocol}" for own in sorted({address, *others})]

    def _free(self, node: ClusterNode, resource: str) -> int:
        if not resource.startswith(PORT):
            return node.free(resource)
        return 0 if any(resource in self._conflicts(port) for port in node.ports) else 1


def _ports(gangs: Iterable[Gang]) -> set[HostPort]:
    return {port for gang in gangs for group in gang.scope.podgroups for port in host_ports(group.pod_spec)}


def _weighed(place: Place, width: int) -> Place:
    """Returns the place with what all its pods ask for together, and so for the places in it."""
    for part in place.places:
        _weighed(part, width)
    if place.type is not None:
        place.demand = tuple(place.count * need for need in place.type.need)
    else:
        place.demand = tuple(sum(part.demand[position] for part in place.places) for position in range(width))
    return place
