"""Computes the edges of a graph in a form whose size grows with the objects, not with their pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, cast

from grove_compiler.gangs.clique import CLIQUE_KIND
from grove_compiler.graph.node import Node
from grove_compiler.graph.order import After
from kube_objects.manifest import namespaced_name, section

EdgeType = Literal["owner", "after", "startup"]


class Edge(NamedTuple):
    """Every object of `targets` comes after every object of `sources`, by their ids.

    For the type `owner`, `sources` is the single owner of all targets. For the type `startup`, both are PodCliques, and the processes in
    their pods wait, not the objects. A set whose gangs wait for its cliques has hundreds of thousands of pairs, but few edges of this form.
    """

    type: EdgeType
    sources: list[str]
    targets: list[str]


def edges_of(nodes: Sequence[Node], after: After) -> list[Edge]:
    """Returns the edges of owners, then those of rules' `after`.

    The latter are between objects of two rules at the same position in their common loops.
    """
    return [*_owner_edges(nodes), *_after_edges(nodes, after)]


def _owner_edges(nodes: Sequence[Node]) -> Iterable[Edge]:
    owned: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        if node.owner is not None:
            owned[node.owner.id].append(node.id)
    return (Edge("owner", [owner], targets) for owner, targets in owned.items())


def startup_edges(nodes: Sequence[Node]) -> list[Edge]:
    """Returns the start-up dependencies of pods, by `spec.startsAfter` of PodCliques. Cliques that are not in the graph are omitted.

    They are separate from the other edges, since objects are not applied in this order.
    """
    cliques = {namespaced_name(node.object): node for node in nodes if node.object.get("kind") == CLIQUE_KIND}
    edges = []
    for (namespace, _), node in cliques.items():
        names = section(node.object, "spec").get("startsAfter")
        first = [cliques[namespace, name].id for name in names if (namespace, name) in cliques] if isinstance(names, list) else []
        edges += [Edge("startup", first, [node.id])] if first else []
    return edges


def _after_edges(nodes: Sequence[Node], after: After) -> Iterable[Edge]:
    of_rule: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        of_rule[node.rule].append(node)
    for rule in of_rule:
        for other, shared in after.get(rule, ()):
            first = _by_loop(of_rule.get(other, ()), shared)
            for position, later in _by_loop(of_rule[rule], shared).items():
                if position in first:
                    yield Edge("after", first[position], later)


def _by_loop(nodes: Iterable[Node], shared: int) -> Mapping[tuple[int, ...], list[str]]:
    result: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for node in nodes:
        result[node.loop[:shared]].append(node.id)
    return result


def transitive_reduction(edges: Sequence[Edge], order: Sequence[str]) -> list[Edge]:
    """Returns the edges without those of type `after` that others imply. `order` is a topological order of all objects.

    An edge is implied if each of its targets comes after all its sources through other objects or by ownership, so that the order of
    objects is unchanged.
    """
    bit = {name: 1 << position for position, name in enumerate(order)}
    masks = [_union(bit[source] for source in edge.sources) for edge in edges]
    into: dict[str, list[int]] = defaultdict(list)
    for number, edge in enumerate(edges):
        for target in edge.targets:
            into[target].append(number)
    needed = {number for number, edge in enumerate(edges) if edge.type == "owner"}
    sources = {source for edge in edges for source in edge.sources}
    # Sets of ancestors are bit masks: of an edge's sources, of objects by their incoming edges, which many share, and of each object.
    of_sources: dict[int, int] = {}
    of_incoming: dict[tuple[bool, tuple[int, ...]], int] = {}
    ancestors: dict[str, int] = {}
    for name in order:
        key = name in sources, tuple(into[name])
        if key not in of_incoming:
            incoming = key[1]
            for number in incoming:
                if number not in of_sources:
                    of_sources[number] = _union(ancestors.get(source, 0) for source in edges[number].sources)
            implied = _union(of_sources[number] | (masks[number] if edges[number].type == "owner" else 0) for number in incoming)
            needed.update(number for number in incoming if masks[number] & ~implied)
            of_incoming[key] = implied | _union(masks[number] for number in incoming) if key[0] else 0  # not needed for a leaf
        ancestors[name] = of_incoming[key]
    return [edge for number, edge in enumerate(edges) if number in needed]


def merge(edges: Iterable[Edge]) -> list[Edge]:
    """Returns the same pairs in fewer edges: edges with the same targets, and then those with the same sources, become one."""
    by_targets: dict[tuple[str, ...], dict[str, None]] = {}
    for edge in edges:
        by_targets.setdefault((edge.type, *edge.targets), {}).update(dict.fromkeys(edge.sources))
    by_sources: dict[tuple[str, ...], dict[str, None]] = {}
    for (edge_type, *targets), sources in by_targets.items():
        by_sources.setdefault((edge_type, *sources), {}).update(dict.fromkeys(targets))
    result = [Edge(cast(EdgeType, edge_type), sources, list(targets)) for (edge_type, *sources), targets in by_sources.items()]
    return sorted(result, key=lambda edge: edge.type != "owner")


def _union(masks: Iterable[int]) -> int:
    result = 0
    for mask in masks:
        result |= mask
    return result
