"""Small clusters and gangs at random: every feature of placement, in sizes that brute force can still try."""

from __future__ import annotations

from random import Random
from typing import Any

from grove_compiler.fit.cluster import ClusterNode, Taint
from grove_compiler.fit.gang import ConstraintScope, GangDemand

from .clusters import gang, group, machine, podgroup

PACKS = ("", "", "", "rack", "rack", "block", "host", "block>rack")


def small_case(seed: int) -> tuple[list[ClusterNode], list[GangDemand]]:
    """Up to five nodes and three gangs of at most two podgroups; racks nest in blocks in about half of the cases."""
    random = Random(seed)
    nested = random.random() < 0.6
    nodes = [_node(random, number, nested) for number in range(random.randint(1, 5))]
    gangs: list[GangDemand] = []
    for number in range(random.randint(1, 3)):
        gangs.append(_gang(random, f"gang-{number}"))
        if random.random() < 0.4:  # gangs of one shape, as replicas of a set are
            gangs.append(GangDemand("default", f"twin-{number}", "demo", 0, "", gangs[-1].scope))
    return nodes, gangs[:3]


def _node(random: Random, number: int, nested: bool) -> ClusterNode:
    labels, rack = {}, random.randint(0, 2)
    if random.random() < 0.9:
        labels["rack"] = f"r{rack}"
    if random.random() < 0.9:
        labels["block"] = f"b{rack // 2 if nested else random.randint(0, 1)}"
    if random.random() < 0.3:
        labels["disk"] = "ssd"
    taints = [Taint("gpu", "", "NoSchedule")] if random.random() < 0.1 else []
    gpu, cpu, pods = random.choice([0, 1, 2, 3, 4, 4, 4]), random.randint(0, 4), random.choice([2, 3, 10])
    return machine(f"n{number}", labels, taints, gpu=gpu, cpu=cpu, pods=pods)


def _gang(random: Random, name: str) -> GangDemand:
    parts = [_podgroup(random, f"{name}-{letter}") for letter in "ab"[: random.randint(1, 2)]]
    if random.random() < 0.3:
        parts = [group(parts[0], pack=random.choice(PACKS)), *parts[1:]]
    elif random.random() < 0.3:
        parts = [group(*parts, pack=random.choice(PACKS))]
    return gang(*parts, pack=random.choice(PACKS), prefer=random.choice(PACKS), name=name)


def _podgroup(random: Random, name: str) -> ConstraintScope:
    spec: dict[str, Any] = {}
    if random.random() < 0.1:
        spec["nodeSelector"] = {"disk": "ssd"}
    if random.random() < 0.5:
        spec["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    count = random.choice([0, 1, 1, 2, 2, 3])
    gpu, cpu = random.choice([0, 1, 1, 2, 3]), random.choice([0, 1, 2])
    replicas = count + random.choice([0, 0, 0, 1])
    return podgroup(count, replicas=replicas, pack=random.choice(PACKS), spec=spec, name=name, gpu=gpu, cpu=cpu)
