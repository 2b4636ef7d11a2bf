"""The result as a graph: what comes before what, and in which wave each object may be written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grove_compiler.graph.diagnostic import Diagnostic
from grove_compiler.graph.node import Node
from grove_compiler.graph.straight import straight_levels

After = Mapping[str, Sequence[tuple[str, int]]]
"""For each rule, the rules whose objects come first and how many leading loops both share."""


class GraphCycle(Exception):
    """Objects that wait for each other; `path` holds their ids, the first again at the end."""

    def __init__(self, path: list[str]) -> None:
        self.path = path
        super().__init__("objects wait for each other: " + " -> ".join(path))


@dataclass(slots=True, eq=False)
class Graph:
    """Objects in apply order.

    Edges are not stored: they follow from the owner of each node and from the rules' `after`. An object of a rule waits for the
    objects of an earlier rule that have the same position in the loops that both rules share.
    """

    nodes: list[Node]
    after: After

    def dependencies(self, node: Node) -> Iterator[Node]:
        """The objects that must be there before this one, each once: its owner if it is in the graph, then what `after` says."""
        return iter(_Index(self).before(node))

    def edges(self) -> Iterator[tuple[Node, Node]]:
        """Every pair of an object and one that must be there before it."""
        index = _Index(self)
        for node in self.nodes:
            for before in index.before(node):
                yield node, before

    def levels(self) -> list[list[Node]]:
        """Waves: every object stands in a later wave than all that it waits for. Linear in objects. Raises `GraphCycle`."""
        levels = straight_levels(self.nodes, self.after)
        if levels is None:
            levels = _Index(self).levels()
        waves: list[list[Node]] = [[] for _ in range(1 + max(levels, default=-1))]
        for node, level in zip(self.nodes, levels, strict=True):
            waves[level].append(node)
        return waves

    def collisions(self) -> list[tuple[Node, Node, Diagnostic]]:
        """Returns objects of the same kind, group, namespace and name that different items generated, in pairs with what to say."""
        if len({node.id for node in self.nodes}) == len(self.nodes):
            return []
        first: dict[tuple[str, str], Node] = {}
        findings = []
        for node in self.nodes:
            other = first.setdefault((_group(node), node.id), node)
            if other is node:
                continue
            message = f"two objects would have the name {node.id}: one from the rule {other.rule}, one from {node.rule}"
            hint = "rename a clique, a scaling group or a set"
            findings.append((other, node, Diagnostic("graph/collision", "error", message, hint=hint)))
        return findings


def _group(node: Node) -> str:
    return _group_of(str(node.object.get("apiVersion", "")))


def _group_of(api_version: str) -> str:
    return api_version.rpartition("/")[0]


class _Index:
    """Nodes by group and id, and by rule and leading loop positions.

    Levels are kept by the identity of a node: objects of different groups may share an id.
    """

    def __init__(self, graph: Graph) -> None:
        self.nodes = graph.nodes
        self.after = graph.after
        self.by_name = {(_group(node), node.id): node for node in graph.nodes}
        wanted: dict[str, set[int]] = defaultdict(set)
        for joins in graph.after.values():
            for rule, shared in joins:
                wanted[rule].add(shared)
        self.groups: dict[tuple[str, tuple[int, ...]], list[Node]] = defaultdict(list)
        for node in graph.nodes:
            for shared in wanted.get(node.rule, ()):
                self.groups[node.rule, node.loop[:shared]].append(node)
        self.group_levels: dict[tuple[str, tuple[int, ...]], int] = {}

    def owner(self, node: Node) -> Node | None:
        """The owner of a node, if it is in the graph."""
        return None if node.owner is None else self.by_name.get((_group_of(node.owner.api_version), node.owner.id))

    def before(self, node: Node) -> list[Node]:
        """What must be there before a node, each once."""
        owner = self.owner(node)
        found = {id(owner): owner} if owner is not None else {}
        for rule, shared in self.after.get(node.rule, ()):
            for other in self.groups.get((rule, node.loop[:shared]), ()):
                found[id(other)] = other
        return list(found.values())

    def levels(self) -> list[int]:
        """The level of each node in turn, whatever stands before what. Raises `GraphCycle`."""
        level: dict[int, int] = {}
        for node in self.nodes:
            self.assign(node, level)
        return [level[id(node)] for node in self.nodes]

    def assign(self, start: Node, level: dict[int, int]) -> None:
        """The level of a node and of all that it waits for, depth first without recursion; groups are assigned once."""
        path: dict[int, Node] = {}
        stack = [(start, False)]
        while stack:
            node, done = stack.pop()
            key = id(node)
            if done:
                del path[key]
                level[key] = 1 + max([*self._owner_level(node, level), *self._group_levels(node, level)], default=-1)
            elif key in level:
                continue
            elif key in path:
                ids = [other.id for other in path.values()]
                raise GraphCycle([*ids[list(path).index(key) :], node.id])
            else:
                path[key] = node
                stack.append((node, True))
                stack += [(other, False) for other in self._waiting_for(node) if id(other) not in level]

    def _waiting_for(self, node: Node) -> list[Node]:
        known = [key for rule, shared in self.after.get(node.rule, ()) if (key := (rule, node.loop[:shared])) not in self.group_levels]
        found = [other for key in known for other in self.groups.get(key, ())]
        owner = self.owner(node)
        return found if owner is None else [*found, owner]

    def _owner_level(self, node: Node, level: dict[int, int]) -> list[int]:
        owner = self.owner(node)
        return [] if owner is None else [level[id(owner)]]

    def _group_levels(self, node: Node, level: dict[int, int]) -> list[int]:
        found = []
        for rule, shared in self.after.get(node.rule, ()):
            key = (rule, node.loop[:shared])
            if key not in self.group_levels:
                self.group_levels[key] = max((level[id(other)] for other in self.groups.get(key, ())), default=-1)
            found.append(self.group_levels[key])
        return found
