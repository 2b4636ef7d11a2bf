"""Counts the pods and GPUs that an edit makes, restarts and deletes, and puts the restarts into order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from grove_compiler.gangs.clique import Clique, read_clique
from grove_compiler.graph.node import Node
from grove_compiler.impact.fate import Fate, id_of, is_member, is_rolled


@dataclass(slots=True, eq=False)
class Amounts:
    """Pods, or GPUs: those that come, those that are deleted and come again, those that go."""

    made: int = 0
    restarted: int = 0
    deleted: int = 0

    def add(self, made: int, restarted: int, deleted: int, each: int = 1) -> None:
        """More of them; `each` counts as so many."""
        self.made += made * each
        self.restarted += restarted * each
        self.deleted += deleted * each


@dataclass(slots=True, eq=False)
class GroupRestart:
    """A scaling group whose replicas are deleted and made again, one after the other: the cliques of each, by its index."""

    name: str
    replicas: dict[int, list[Clique]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class ReplicaRestart:
    """What restarts in one replica of the set. Standalone cliques and groups go on side by side."""

    index: int
    cliques: list[Clique] = field(default_factory=list)
    groups: list[GroupRestart] = field(default_factory=list)

    @property
    def all_cliques(self) -> list[Clique]:
        return [*self.cliques, *(clique for group in self.groups for part in group.replicas.values() for clique in part)]


@dataclass(slots=True, eq=False)
class Pods:
    """What an edit does to the pods of one set. `restarts` are in the order in which they happen, one replica after the other."""

    pods: Amounts = field(default_factory=Amounts)
    gpus: Amounts = field(default_factory=Amounts)
    restarts: list[ReplicaRestart] = field(default_factory=list)

    @property
    def restarted_gangs(self) -> list[str]:
        """The gangs that lose pods to a restart, in order."""
        return list(dict.fromkeys(clique.gang for replica in self.restarts for clique in replica.all_cliques))


def pods_of(before: Sequence[Node], result: Iterable[Fate], strategy: str) -> Pods:
    """Returns the pods that come, restart and go with the PodCliques of one set."""
    there = {id_of(node): node for node in before if node.object["kind"] == "PodClique"}
    total, rolled = Pods(), []
    for fate in result:
        if fate.kind != "PodClique":
            continue
        clique = read_clique(fate.node.object)
        old = there.get(id_of(fate.node))
        made, restarted, deleted = _counts(fate, clique, old, strategy)
        total.pods.add(made, restarted, deleted)
        total.gpus.add(made, restarted, deleted, clique.gpus)
        if restarted:
            rolled.append(clique)
    total.restarts = _in_order(rolled)
    return total


def _counts(fate: Fate, clique: Clique, old: Node | None, strategy: str) -> tuple[int, int, int]:
    """Pods made, restarted and deleted."""
    if old is None or fate.what == "made":
        return clique.pods, 0, 0
    if fate.what == "deleted":
        return 0, 0, clique.pods
    had = read_clique(old.object).pods
    if fate.what == "replaced" and is_member(fate.node):
        both = min(had, clique.pods)
        return clique.pods - both, both, had - both
    return (0, had, 0) if is_rolled(old, fate.node, strategy) else (0, 0, 0)


def _in_order(cliques: Iterable[Clique]) -> list[ReplicaRestart]:
    """Returns one replica of the set at a time, the lowest index first as long as all are healthy (shipped semantics §7.5)."""
    replicas: dict[int, ReplicaRestart] = {}
    groups: dict[str, GroupRestart] = {}
    for clique in cliques:
        replica = replicas.setdefault(clique.replica, ReplicaRestart(clique.replica))
        if not clique.group:
            replica.cliques.append(clique)
            continue
        if clique.group not in groups:
            groups[clique.group] = GroupRestart(clique.group)
            replica.groups.append(groups[clique.group])
        groups[clique.group].replicas.setdefault(clique.group_replica, []).append(clique)
    for group in groups.values():
        group.replicas = dict(sorted(group.replicas.items()))
    return [replicas[index] for index in sorted(replicas)]
