"""What comes before what, in a form that grows with the objects and not with their pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, cast

from grove_compiler.gangs.clique import CLIQUE_KIND, key_of, section
from grove_compiler.graph.node import Node
from grove_compiler.graph.order import After

EdgeType = Literal["owner", "after", "startup"]


class Edge(NamedTuple):
    """Every object of `targets` comes after every object of `sources`, by their ids.

    Of type `owner`, `sources` is the one owner of all targets. Of type `startup`, both are PodCliques, and what waits is not the object but
    the processes in its pods. A set whose gangs wait for its cliques has hundreds of thousands of
    pairs, but few edges of this form.
    """

    type: EdgeType
    sources: list[str]
    targets: list[str]


def edges_of(nodes: Sequence[Node], after: After) -> list[Edge]:
    """Owners first, then what rules wait for (`after`): the objects of two rules that share the position in their common loops."""
    return [*_owner_edges(nodes), *_after_edges(nodes, after)]


def _owner_edges(nodes: Sequence[Node]) -> Iterable[Edge]:
    owned: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        if node.owner is not None:
            owned[node.owner.id].append(node.id)
    return (Edge("owner", [owner], targets) for owner, targets in owned.items())


def startup_edges(nodes: Sequence[Node]) -> list[Edge]:
    """Returns whose pods wait for whose pods, as `spec.startsAfter` of PodCliques says it; without names that are not in the graph.

    It stands apart from the other edges, for objects are not applied in this order.
    """
    cliques = {key_of(node.object): node for node in nodes if node.object.get("kind") == CLIQUE_KIND}
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


def without_detours(edges: Sequence[Edge], order: Sequence[str]) -> list[Edge]:
    """Leaves out `after` edges that follow from others. `order` names every object once, what comes first before the rest.

    An edge is left out when each of its targets comes after all its sources by way of something else or by ownership, so that
    what comes before what stays the same.
    """
    bit = {name: 1 << position for position, name in enumerate(order)}
    masks = [_union(bit[source] for source in edge.sources) for edge in edges]
    into: dict[str, list[int]] = defaultdict(list)
    for number, edge in enumerate(edges):
        for target in edge.targets:
            into[target].append(number)
    needed = {number for number, edge in enumerate(edges) if edge.type == "owner"}
    sources = {source for edge in edges for source in edge.sources}
    farther: dict[int, int] = {}  # for each edge, a bit for everything that comes before its sources
    before: dict[tuple[bool, tuple[int, ...]], int] = {}  # the same for objects by the edges that lead to them, which many share
    reach: dict[str, int] = {}
    for name in order:
        key = name in sources, tuple(into[name])
        if key not in before:
            leading = key[1]
            for number in leading:
                if number not in farther:
                    farther[number] = _union(reach.get(source, 0) for source in edges[number].sources)
            elsewhere = _union(farther[number] | (masks[number] if edges[number].type == "owner" else 0) for number in leading)
            needed.update(number for number in leading if masks[number] & ~elsewhere)
            before[key] = elsewhere | _union(masks[number] for number in leading) if key[0] else 0  # nobody asks it of a leaf
        reach[name] = before[key]
    return [edge for number, edge in enumerate(edges) if number in needed]


def merged(edges: Iterable[Edge]) -> list[Edge]:
    """Returns the same pairs in fewer edges: what has the same targets, and then what has the same sources, becomes one edge."""
    by_targets: dict[tuple[str, ...], dict[str, None]] = {}
    for edge in edges:
        by_targets.setdefault((edge.type, *edge.targets), {}).update(dict.fromkeys(edge.sources))
    by_sources: dict[tuple[str, ...], dict[str, None]] = {}
    for (type, *targets), sources in by_targets.items():
        by_sources.setdefault((type, *sources), {}).update(dict.fromkeys(targets))
    result = [Edge(cast(EdgeType, type), sources, list(targets)) for (type, *sources), targets in by_sources.items()]
    return sorted(result, key=lambda edge: edge.type != "owner")


def _union(masks: Iterable[int]) -> int:
    result = 0
    for mask in masks:
        result |= mask
    return result
