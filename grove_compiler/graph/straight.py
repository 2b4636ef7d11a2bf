"""Levels in one pass, for graphs whose objects stand behind all that they wait for: those in apply order, which is nearly every one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grove_compiler.graph.node import Node, ObjectRef

Joins = Sequence[tuple[str, int]]
Key = tuple[str, tuple[int, ...]]
"""A rule and the leading loop positions that some of its objects have in common."""


def straight_levels(nodes: Sequence[Node], after: Mapping[str, Joins]) -> list[int] | None:
    """The level of each node; none when some node stands before another that it waits for, or when nodes wait for each other."""
    walk = _Walk(nodes, after)
    levels = []
    for node in nodes:
        level = 1 + max(walk.owner_level(node.owner), walk.joined_level(node))
        if not walk.pass_by(node, level):
            return None
        levels.append(level)
    return levels


class _Walk:
    """What is known on the way from the first node to the last. Whoever is asked about may not be met any more."""

    def __init__(self, nodes: Sequence[Node], after: Mapping[str, Joins]) -> None:
        present = dict.fromkeys(node.rule for node in nodes)
        self._joins = {rule: _by_share(after.get(rule, ()), present) for rule in present}
        wanted = {join for joins in after.values() for join in joins}
        self._shares = {rule: [share for other, share in wanted if other == rule] for rule in present}
        self._names = _names_of_owners(nodes)
        self._owner_ids = {name for _, name in self._names.values()}
        self._owners: dict[tuple[str, str], int] = {}
        self._groups: dict[Key, int] = {}
        self._answers: dict[Key, int] = {}
        self._asked: set[tuple[str, str] | Key] = set()

    def owner_level(self, owner: ObjectRef | None) -> int:
        """The level of an owner; -1 when it was not met, and then it should not be in the graph at all."""
        if owner is None:
            return -1
        name = self._names[id(owner)]
        level = self._owners.get(name)
        if level is None:
            self._asked.add(name)
            return -1
        return level

    def joined_level(self, node: Node) -> int:
        """The highest level of all objects that the node's rule waits for; -1 when there are none."""
        highest = -1
        for share, rules in self._joins[node.rule]:
            key = (node.rule, node.loop[:share])
            level = self._answers.get(key)
            if level is None:
                keys = [(rule, key[1]) for rule in rules]
                self._asked.update(keys)
                level = self._answers[key] = max(self._groups.get(other, -1) for other in keys)
            if level > highest:
                highest = level
        return highest

    def pass_by(self, node: Node, level: int) -> bool:
        """Takes note of a node; false when its level was wanted before it was known, or when another has its name."""
        if node.id in self._owner_ids:
            name = (str(node.object.get("apiVersion", "")).rpartition("/")[0], node.id)
            if name in self._asked or name in self._owners:
                return False
            self._owners[name] = level
        for share in self._shares[node.rule]:
            key = (node.rule, node.loop[:share])
            if key in self._asked:
                return False
            if level > self._groups.get(key, -1):
                self._groups[key] = level
        return True


def _names_of_owners(nodes: Sequence[Node]) -> dict[int, tuple[str, str]]:
    """Group and id of each owner, by the identity of the reference, which nodes share."""
    owners = {id(node.owner): node.owner for node in nodes if node.owner is not None}
    return {key: (owner.api_version.rpartition("/")[0], owner.id) for key, owner in owners.items()}


def _by_share(joins: Joins, present: Mapping[str, object]) -> list[tuple[int, list[str]]]:
    """The rules that are waited for and have made anything, by the number of loops that both share."""
    found: dict[int, list[str]] = {}
    for rule, share in joins:
        if rule in present:
            found.setdefault(share, []).append(rule)
    return list(found.items())
