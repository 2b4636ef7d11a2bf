"""What a compiled set is made of, read from its objects: replicas, gangs, cliques, pods and GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from grove_compiler.graph.node import Manifest, Node

REPLICA = "grove.io/podcliqueset-replica-index"
GROUP = "grove.io/podcliquescalinggroup"
GROUP_REPLICA = "grove.io/podcliquescalinggroup-replica-index"
BASE_GANG = "grove.io/base-podgang"
SET = "PodCliqueSet"
LONGEST_CHAIN = 8  # a claim, its PodClique, its scaling group, the set; a chain that is longer runs in a circle


@dataclass(slots=True, eq=False)
class Clique:
    """One PodClique. `short` is its template's name; `needed` pods must start together; `gpus` are those of one pod."""

    name: str
    short: str
    pods: int
    needed: int
    gpus: int
    replica: int
    scaled: bool

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.short, self.pods, self.needed, self.gpus


@dataclass(slots=True, eq=False)
class Gang:
    """Cliques that are scheduled all or nothing. `name` is empty for cliques that belong to no gang."""

    name: str
    replica: int
    cliques: list[Clique]

    @property
    def scaled(self) -> bool:
        return any(clique.scaled for clique in self.cliques)

    @property
    def shape(self) -> tuple[Any, ...]:
        return bool(self.name), self.scaled, *(clique.shape for clique in self.cliques)


@dataclass(slots=True, eq=False)
class Replica:
    """One replica of a set."""

    index: int
    gangs: list[Gang] = field(default_factory=list)

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(gang.shape for gang in self.gangs)

    @property
    def cliques(self) -> list[Clique]:
        return [clique for gang in self.gangs for clique in gang.cliques]


@dataclass(slots=True, eq=False)
class Anatomy:
    """Everything that one owner's objects add up to. `owner` is the set's id, empty for objects that no set owns."""

    owner: str
    kinds: dict[str, int]
    replicas: list[Replica]

    @property
    def cliques(self) -> list[Clique]:
        return [clique for replica in self.replicas for clique in replica.cliques]

    @property
    def gangs(self) -> list[Gang]:
        return [gang for replica in self.replicas for gang in replica.gangs if gang.name]


def dissect(nodes: Sequence[Node]) -> list[Anatomy]:
    """One anatomy for each set that owns objects, in the order of the graph; what no set owns comes last."""
    owners = {node.id: node.owner.id for node in nodes if node.owner is not None}
    parts: dict[str, list[Node]] = {}
    for node in nodes:
        parts.setdefault(_set_of(node, owners), []).append(node)
    return [_anatomy(owner, parts[owner]) for owner in sorted(parts, key=lambda owner: not owner)]


def gpus_of(pod_spec: Manifest) -> int:
    """GPUs that the scheduler sets aside for one pod: the containers' sum, or an init container's where that is more."""
    running = sum(_gpus(container) for container in pod_spec.get("containers") or [])
    peak = 0
    for container in pod_spec.get("initContainers") or []:
        if container.get("restartPolicy") == "Always":  # a sidecar runs on beside what follows
            running += _gpus(container)
        else:
            peak = max(peak, _gpus(container))
    return max(running, peak)


def _gpus(container: Manifest) -> int:
    resources = container.get("resources") or {}
    wanted = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
    return sum(_whole(amount) for name, amount in wanted.items() if name.endswith("/gpu"))


def _whole(amount: Any) -> int:
    text = str(amount)
    return int(text) if text.isascii() and text.isdecimal() else 0


def _set_of(node: Node, owners: dict[str, str]) -> str:
    """The id of the PodCliqueSet at the end of a chain of owners."""
    owner = owners.get(node.id, "")
    for _ in range(LONGEST_CHAIN):
        owner = owners.get(owner, owner)
    return owner if owner.startswith(f"{SET}/") else ""


def _anatomy(owner: str, nodes: Sequence[Node]) -> Anatomy:
    kinds: dict[str, int] = {}
    for node in nodes:
        kind = node.object["kind"]
        kinds[kind] = kinds.get(kind, 0) + 1
    set_name = owner.rpartition("/")[2]
    cliques = {node.object["metadata"]["name"]: _clique(node.object, set_name) for node in nodes if node.object["kind"] == "PodClique"}
    gangs = [_gang(node.object, cliques) for node in nodes if node.object["kind"] == "PodGang"]
    held = {clique.name for gang in gangs for clique in gang.cliques}
    loose = [Gang("", clique.replica, [clique]) for clique in cliques.values() if clique.name not in held]
    return Anatomy(owner, kinds, _replicas([*gangs, *loose]))


def _replicas(gangs: Iterable[Gang]) -> list[Replica]:
    replicas: dict[int, Replica] = {}
    for gang in gangs:
        replicas.setdefault(gang.replica, Replica(gang.replica)).gangs.append(gang)
    return [replicas[index] for index in sorted(replicas)]


def _gang(manifest: Manifest, cliques: dict[str, Clique]) -> Gang:
    members = [cliques[group["name"]] for group in manifest["spec"].get("podgroups") or [] if group["name"] in cliques]
    return Gang(manifest["metadata"]["name"], members[0].replica if members else 0, members)


def _clique(manifest: Manifest, set_name: str) -> Clique:
    metadata, spec = manifest["metadata"], manifest["spec"]
    labels = metadata.get("labels") or {}
    name, pods = metadata["name"], spec.get("replicas") or 0
    parent = f"{labels[GROUP]}-{labels.get(GROUP_REPLICA)}" if GROUP in labels else f"{set_name}-{labels.get(REPLICA)}"
    return Clique(
        name=name,
        short=name.removeprefix(f"{parent}-"),
        pods=pods,
        needed=spec.get("minAvailable") or pods,
        gpus=gpus_of(spec.get("podSpec") or {}),
        replica=_whole(labels.get(REPLICA, 0)),
        scaled=BASE_GANG in labels,
    )
