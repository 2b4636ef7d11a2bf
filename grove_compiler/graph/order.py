"""Orders objects: computes what each waits for, and its level, from owners and from the rules' `after`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from grove_compiler.graph.node import Node, ObjectRef
from kube_objects.manifest import group_of

After = Mapping[str, Sequence[tuple[str, int]]]
"""For each rule, the rules whose objects come first, each with the number of leading loops that both share."""

Key = tuple[str, tuple[int, ...]]
"""A group of objects: the rule that made them, and the leading loop positions that they share."""

UNKNOWN = -2
NONE = -1
"""The level of an empty group: an object that waits only for it is on level 0."""


class GraphCycle(Exception):
    """Reports that objects wait for each other; `path` holds their ids, with the first again at the end."""

    def __init__(self, path: list[str]) -> None:
        self.path = path
        super().__init__("objects wait for each other: " + " -> ".join(path))


class Order:
    """Computes dependencies and levels of nodes, which it names by their positions in the list.

    Objects that wait for each other's rules wait for a *group*: all objects of one rule with the same leading loop positions. Groups are
    settled as a whole, so that a thousand objects that wait for a thousand cost two thousand steps and not a million.
    """

    def __init__(self, nodes: Sequence[Node], after: After) -> None:
        self.nodes = nodes
        present = dict.fromkeys(node.rule for node in nodes)
        self._joins = {rule: _by_share(after.get(rule, ()), present) for rule in present}
        self._owners = _positions_of_owners(nodes)
        self._groups = self._grouped()
        self._group_levels: dict[Key, int] = {}
        self._levels = [UNKNOWN] * len(nodes)

    def _grouped(self) -> dict[Key, list[int]]:
        """Returns the groups that some object waits for, each with the positions of its objects."""
        shares: dict[str, set[int]] = defaultdict(set)
        for joins in self._joins.values():
            for share, rules in joins:
                for rule in rules:
                    shares[rule].add(share)
        groups: dict[Key, list[int]] = defaultdict(list)
        for position, node in enumerate(self.nodes):
            for share in shares.get(node.rule, ()):
                groups[node.rule, node.loop[:share]].append(position)
        return groups

    def before(self, node: Node) -> list[int]:
        """Returns the positions of a node's dependencies, each once: its owner if that is a node, then those by `after`."""
        owner = self.owner(node)
        positions = {} if owner is None else {owner: None}
        for group in self.groups(node):
            positions.update(dict.fromkeys(group))
        return list(positions)

    def groups(self, node: Node) -> list[list[int]]:
        """Returns the positions of a node's dependencies by `after`, group by group; nodes that wait for the same group share its list."""
        keys = ((rule, node.loop[:share]) for share, rules in self._joins[node.rule] for rule in rules)
        return [self._groups[key] for key in keys if key in self._groups]

    def levels(self) -> list[int]:
        """Returns the level of each node: one more than the highest that it waits for. Linear in nodes. Raises `GraphCycle`."""
        levels = self._levels
        # In apply order, which is nearly every graph's, all that a node waits for is known by now, and nothing is sorted.
        for position, node in enumerate(self.nodes):
            levels[position] = self._level(node)
        if UNKNOWN in levels:
            for position in self._sorted():
                levels[position] = self._level(self.nodes[position])
        return levels

    def _level(self, node: Node) -> int:
        """Returns the node's level, or `UNKNOWN` while the level of any of its dependencies is."""
        owner = self.owner(node)
        highest = NONE if owner is None else self._levels[owner]
        if highest == UNKNOWN:
            return UNKNOWN
        for share, rules in self._joins[node.rule]:
            position = node.loop[:share]
            for rule in rules:
                key = rule, position
                level = self._group_levels.get(key, UNKNOWN)
                if level == UNKNOWN:
                    level = self._group_level(key)
                    if level == UNKNOWN:
                        return UNKNOWN
                if level > highest:
                    highest = level
        return highest + 1

    def _group_level(self, key: Key) -> int:
        """Returns the highest level in a group, or `UNKNOWN` while that of any of its nodes is."""
        levels = [self._levels[position] for position in self._groups.get(key, ())]
        if UNKNOWN in levels:
            return UNKNOWN
        level = self._group_levels[key] = max(levels, default=NONE)
        return level

    def _sorted(self) -> Iterator[int]:
        """Yields every position after those that it waits for. A group is one vertex, so that edges between groups do not multiply."""
        from graphlib import CycleError, TopologicalSorter  # hardly any graph comes here, and each start would pay for it

        edges: TopologicalSorter[int | Key] = TopologicalSorter(self._groups)
        for position, node in enumerate(self.nodes):
            owner = self.owner(node)
            keys = [(rule, node.loop[:share]) for share, rules in self._joins[node.rule] for rule in rules]
            edges.add(position, *keys, *([] if owner is None else [owner]))
        try:
            order = list(edges.static_order())
        except CycleError as error:
            ids = [self.nodes[step].id for step in reversed(error.args[1]) if isinstance(step, int)]
            raise GraphCycle(ids if ids[0] == ids[-1] else [*ids, ids[0]]) from None
        return (step for step in order if isinstance(step, int))

    def owner(self, node: Node) -> int | None:
        """Returns the position of a node's owner; None for one that is no node."""
        return None if node.owner is None else self._owners[id(node.owner)]


def _positions_of_owners(nodes: Sequence[Node]) -> dict[int, int | None]:
    """Returns the position of each owner among the nodes, by the `id()` of the reference, which nodes share; None for one elsewhere."""
    references: dict[int, ObjectRef] = {id(node.owner): node.owner for node in nodes if node.owner is not None}
    ids = {owner.id for owner in references.values()}
    positions: dict[tuple[str, str], int] = {}
    for position, node in enumerate(nodes):
        if node.id in ids:
            positions[group_of(str(node.object.get("apiVersion", ""))), node.id] = position
    return {key: positions.get((group_of(owner.api_version), owner.id)) for key, owner in references.items()}


def _by_share(joins: Sequence[tuple[str, int]], present: Mapping[str, object]) -> list[tuple[int, list[str]]]:
    """Groups the rules that are waited for and made objects by the number of loops that both share."""
    rules: dict[int, list[str]] = {}
    for rule, share in joins:
        if rule in present:
            rules.setdefault(share, []).append(rule)
    return list(rules.items())
