"""Counts the pods and GPUs that an edit makes, restarts and deletes, and puts the restarts into order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from grove_compiler.gangs.clique import CLIQUE_KIND, MIG, Clique, read_clique
from grove_compiler.graph.node import Node
from grove_compiler.impact.fate import Fate, Rollout, by_id
from grove_compiler.record import record

Amounts = dict[str, int]
"""Pods, or GPUs, by what becomes of them."""
WHAT = ("made", "restarted", "deleted")
"""Those that come, those that are deleted and come again, those that go."""


@record
class ReplicaRestart:
    """What restarts in one replica of the set. Standalone cliques and scaling groups go on side by side.

    `groups` holds the cliques of each scaling group by its name and the index of its replica; these go one after the other.
    """

    index: int
    cliques: list[Clique] = field(default_factory=list)
    groups: dict[str, dict[int, list[Clique]]] = field(default_factory=dict)

    @property
    def all_cliques(self) -> list[Clique]:
        return [*self.cliques, *(clique for parts in self.groups.values() for part in parts.values() for clique in part)]


@record
class Pods:
    """What an edit does to the pods of one set. `restarts` are in the order in which they happen, one replica after the other."""

    pods: Amounts = field(default_factory=lambda: dict.fromkeys(WHAT, 0))
    gpus: Amounts = field(default_factory=lambda: dict.fromkeys(WHAT, 0))
    mig_devices: Amounts = field(default_factory=lambda: dict.fromkeys(WHAT, 0))
    restarts: list[ReplicaRestart] = field(default_factory=list)

    @property
    def restarted_gangs(self) -> list[str]:
        """The gangs that lose pods to a restart, in order."""
        return list(dict.fromkeys(clique.gang for replica in self.restarts for clique in replica.all_cliques))


def pods_of(before: Mapping[str, Node], result: Iterable[Fate], roll: Rollout) -> Pods:
    """Returns the pods that come, restart and go with the PodCliques of one set."""
    total, rolled = Pods(), []
    for fate in result:
        if fate.kind != CLIQUE_KIND:
            continue
        clique = read_clique(fate.node.object)
        (key,) = by_id([fate.node])
        counts = _counts(fate, clique, before.get(key), roll)
        for what, number in zip(WHAT, counts, strict=True):
            total.pods[what] += number
            total.gpus[what] += number * clique.gpus
            total.mig_devices[what] += number * clique.devices.get(MIG, 0)
        if counts[1]:
            rolled.append(clique)
    total.restarts = _in_order(rolled)
    return total


def _counts(fate: Fate, clique: Clique, old: Node | None, roll: Rollout) -> tuple[int, int, int]:
    """Returns the pods made, restarted and deleted."""
    if old is None or fate.what == "made":
        return clique.pods, 0, 0
    if fate.what == "deleted":
        return 0, 0, clique.pods
    had = read_clique(old.object).pods
    if fate.what == "replaced" and clique.group:
        both = min(had, clique.pods)
        return clique.pods - both, both, had - both
    return (0, had, 0) if roll.restarts(clique) else (0, 0, 0)


def _in_order(cliques: Iterable[Clique]) -> list[ReplicaRestart]:
    """Returns one replica of the set at a time, the lowest index first as long as all are healthy (shipped semantics §7.5)."""
    replicas: dict[int, ReplicaRestart] = {}
    for clique in sorted(cliques, key=lambda clique: (clique.replica, clique.group_replica)):
        replica = replicas.setdefault(clique.replica, ReplicaRestart(clique.replica))
        if clique.group:
            replica.groups.setdefault(clique.group, {}).setdefault(clique.group_replica, []).append(clique)
        else:
            replica.cliques.append(clique)
    return list(replicas.values())
