"""Pods, GPUs and restarts, read from the PodCliques that an edit touches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from grove_compiler.fit.amounts import request
from grove_compiler.graph.node import Manifest, Node
from grove_compiler.impact.fate import GROUP_REPLICA, Fate, id_of, is_member, is_rolled
from grove_compiler.kube.quantity import QuantityError

REPLICA = "grove.io/podcliqueset-replica-index"
GROUP = "grove.io/podcliquescalinggroup"
GANG = "grove.io/podgang"
GPU_SUFFIX = "/gpu"


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
class Clique:
    """One PodClique as far as pods are concerned. `group` is empty outside of scaling groups; `gpus` are those of one pod."""

    name: str
    replica: int
    group: str
    group_replica: int
    gang: str
    pods: int
    gpus: int


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


def read_clique(node: Node) -> Clique:
    """The facts of a PodClique."""
    metadata, spec = node.object["metadata"], node.object["spec"]
    labels: Manifest = metadata.get("labels") or {}
    return Clique(
        metadata["name"],
        _number(labels.get(REPLICA)),
        labels.get(GROUP, ""),
        _number(labels.get(GROUP_REPLICA)),
        labels.get(GANG, ""),
        spec.get("replicas") or 0,
        gpus_of(spec.get("podSpec") or {}),
    )


def gpus_of(pod_spec: Manifest) -> int:
    """GPUs of any vendor that one pod sets aside; 0 where a quantity is none."""
    try:
        return sum(amount for name, amount in request(pod_spec).items() if name.endswith(GPU_SUFFIX))
    except QuantityError:
        return 0


def pods_of(before: Sequence[Node], found: Iterable[Fate], strategy: str) -> Pods:
    """The pods that come, restart and go with the PodCliques of one set."""
    there = {id_of(node): node for node in before if node.object["kind"] == "PodClique"}
    total, rolled = Pods(), []
    for fate in found:
        if fate.kind != "PodClique":
            continue
        clique = read_clique(fate.node)
        former = there.get(id_of(fate.node))
        made, restarted, deleted = _counts(fate, clique, former, strategy)
        total.pods.add(made, restarted, deleted)
        total.gpus.add(made, restarted, deleted, clique.gpus)
        if restarted:
            rolled.append(clique)
    total.restarts = _in_order(rolled)
    return total


def _counts(fate: Fate, clique: Clique, former: Node | None, strategy: str) -> tuple[int, int, int]:
    """Pods made, restarted and deleted."""
    if former is None or fate.what == "made":
        return clique.pods, 0, 0
    if fate.what == "deleted":
        return 0, 0, clique.pods
    had = read_clique(former).pods
    if fate.what == "replaced" and is_member(fate.node):
        both = min(had, clique.pods)
        return clique.pods - both, both, had - both
    return (0, had, 0) if is_rolled(former, fate.node, strategy) else (0, 0, 0)


def _in_order(cliques: Iterable[Clique]) -> list[ReplicaRestart]:
    """One replica of the set at a time, the lowest index first as long as all are healthy (shipped semantics §7.5)."""
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


def _number(text: Any) -> int:
    return int(text) if isinstance(text, str) and text.isascii() and text.isdecimal() else -1
