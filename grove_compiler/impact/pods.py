"""Counts the pods and GPUs that an edit makes, restarts and deletes, and orders the restarts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from grove_compiler.gangs.clique import CLIQUE_KIND, MIG, CompiledClique, read_clique
from grove_compiler.graph.node import Node
from grove_compiler.impact.fate import Rollout
from grove_compiler.record import record

Amounts = dict[str, int]
"""The number of pods, or GPUs, by fate."""
WHAT = ("made", "restarted", "deleted")
"""The fates of pods: created, deleted and created again, deleted."""


@record
class ReplicaRestart:
    """Holds what restarts in one replica of the set. Standalone cliques and scaling groups restart in parallel.

    `groups` holds the cliques of each scaling group by its name and the index of its replica. `at_a_time` says how many pods of a clique,
    or replicas of a group, restart at a time, by its name, where that is more than one.
    """

    index: int
    cliques: list[CompiledClique] = field(default_factory=list)
    groups: dict[str, dict[int, list[CompiledClique]]] = field(default_factory=dict)
    at_a_time: dict[str, int] = field(default_factory=dict)

    @property
    def all_cliques(self) -> list[CompiledClique]:
        return [*self.cliques, *(clique for parts in self.groups.values() for part in parts.values() for clique in part)]


@record
class Pods:
    """Counts what an edit does to the pods of one set. `restarts` are in the order in which they happen, one replica after the other."""

    pods: Amounts = field(default_factory=lambda: dict.fromkeys(WHAT, 0))
    gpus: Amounts = field(default_factory=lambda: dict.fromkeys(WHAT, 0))
    mig_devices: Amounts = field(default_factory=lambda: dict.fromkeys(WHAT, 0))
    restarts: list[ReplicaRestart] = field(default_factory=list)

    @property
    def restarted_gangs(self) -> list[str]:
        """The gangs that lose pods to a restart, in order."""
        return list(dict.fromkeys(clique.gang for replica in self.restarts for clique in replica.all_cliques))


def pods_of(before: Mapping[str, Node], after: Mapping[str, Node], roll: Rollout) -> Pods:
    """Counts the pods of one set that an edit makes, restarts and deletes."""
    total, rolled = Pods(), []
    for key, node in {**after, **{key: node for key, node in before.items() if key not in after}}.items():
        if node.object["kind"] != CLIQUE_KIND:
            continue
        clique = read_clique(node.object)
        old = read_clique(before[key].object).pods if key in before else None
        is_restarted = roll.replaces_all(clique) or roll.restarts(clique)
        counts = _counts(clique, old, is_restarted=is_restarted) if key in after else (0, 0, clique.pods)
        for what, number in zip(WHAT, counts, strict=True):
            total.pods[what] += number
            total.gpus[what] += number * clique.gpus
            total.mig_devices[what] += number * clique.devices.get(MIG, 0)
        if counts[1]:
            rolled.append(clique)
    total.restarts = _in_order(rolled, roll)
    return total


def _counts(clique: CompiledClique, old: int | None, *, is_restarted: bool) -> tuple[int, int, int]:
    """Returns the number of pods made, restarted and deleted, of a PodClique that stays or is new, and has had `old` pods."""
    if old is None:
        return clique.pods, 0, 0
    if not is_restarted:
        return 0, 0, 0
    both = min(old, clique.pods)
    return clique.pods - both, both, old - both


def _in_order(cliques: Iterable[CompiledClique], roll: Rollout) -> list[ReplicaRestart]:
    """Groups restarts by replica of the set, the lowest index first, as it happens while all are healthy (shipped semantics §7.5)."""
    replicas: dict[int, ReplicaRestart] = {}
    for clique in sorted(cliques, key=lambda clique: (clique.replica, clique.group_replica)):
        replica = replicas.setdefault(clique.replica, ReplicaRestart(clique.replica))
        if (at_a_time := roll.at_a_time(clique)) > 1:
            replica.at_a_time[clique.group or clique.name] = at_a_time
        if clique.group:
            replica.groups.setdefault(clique.group, {}).setdefault(clique.group_replica, []).append(clique)
        else:
            replica.cliques.append(clique)
    return list(replicas.values())
