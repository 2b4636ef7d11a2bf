"""Nodes and gangs for tests, in few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grove_compiler.fit.cluster import ClusterNode, Taint
from grove_compiler.fit.gang import ConstraintScope, DomainKey, GangDemand
from grove_compiler.fit.problem import Problem
from grove_compiler.gangs.gang import LevelName
from grove_compiler.kube.pod_request import amounts

GPU = "nvidia.com/gpu"
HOST = "kubernetes.io/hostname"
SHORT = {"gpu": GPU, "host": HOST}


def machine(name: str, labels: Mapping[str, str] | None = None, taints: Sequence[Taint] = (), **offered: Any) -> ClusterNode:
    """A node. `gpu` stands for nvidia.com/gpu; it takes 110 pods unless `pods` says otherwise."""
    allocatable = amounts({SHORT.get(resource, resource): value for resource, value in {"pods": 110, **offered}.items()})
    return ClusterNode(name, {HOST: name, **(labels or {})}, allocatable, list(taints))


def racks(number: int, each: int, **offered: Any) -> list[ClusterNode]:
    """So many racks of so many nodes, two racks a block."""
    return [
        machine(f"node-{rack}-{place}", {"rack": f"rack-{rack}", "block": f"block-{rack // 2}"}, **offered)
        for rack in range(number)
        for place in range(each)
    ]


def key(label: str) -> DomainKey | None:
    """The domains of one label; none for an empty one. `block>rack` are those of the rack in a topology of both."""
    labels = tuple(SHORT.get(part, part) for part in label.split(">"))
    return DomainKey(labels, labels) if label else None


def pod(spec: Mapping[str, Any] | None = None, **asked: Any) -> dict[str, Any]:
    """A pod spec with one container."""
    requests = {SHORT.get(resource, resource): value for resource, value in asked.items()}
    return {"containers": [{"name": "main", "resources": {"requests": requests}}], **(spec or {})}


def podgroup(
    count: int, pack: str = "", prefer: str = "", replicas: int = 0, spec: Mapping[str, Any] | None = None, name: str = "", **asked: Any
) -> ConstraintScope:
    """So many pods that ask for `asked`, packed by a label."""
    return ConstraintScope("podgroup", name or f"{count}-pods", key(pack), key(prefer), [], count, max(count, replicas), pod(spec, **asked))


def group(*scopes: ConstraintScope, pack: str = "", prefer: str = "", level: LevelName = "group") -> ConstraintScope:
    """Scopes that are packed together."""
    return ConstraintScope(level, level, key(pack), key(prefer), list(scopes))


def gang(*scopes: ConstraintScope, pack: str = "", prefer: str = "", name: str = "gang", replica: int = 0, base: str = "") -> GangDemand:
    """A gang of the set `demo`."""
    return GangDemand("default", name, "demo", replica, base, ConstraintScope("gang", name, key(pack), key(prefer), list(scopes)))


def problem(nodes: Sequence[ClusterNode], *gangs: GangDemand) -> Problem:
    """The numbers of a case."""
    return Problem(list(nodes), gangs)
