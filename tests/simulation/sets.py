"""The set that simulations run: that of the recorded cases, with a clique outside scaling groups and a group of two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from applier.ref import Manifest
from tests.model.sets import clique, group, pcs

NAME = "demo"
FRONT, PRE, DEC = range(3)


def demo(replicas: int = 1, front: int = 2, members: int = 3, **template: Any) -> Manifest:
    """The front clique needs 1 of its pods, and the group 1 of its replicas, each of two pods `pre` and one `dec`."""
    cliques = [clique("front", front, 1), clique("pre", 2), clique("dec", 1)]
    return pcs(cliques, [group("sg", ["pre", "dec"], members, 1)], replicas=replicas, **template)


CLAIMED: Manifest = {"spec": {"devices": {"requests": [{"name": "nic", "exactly": {"deviceClassName": "rdma.example.com"}}]}}}
ON_LOAD: list[Manifest] = [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]


def equipped(**template: Any) -> Manifest:
    """The same with what sets may have besides: domains of multi-node NVLink, claims at all levels, autoscalers, and KAI as scheduler.

    Its updates may replace two at a time.
    """
    manifest = demo(
        replicas=2,
        resourceClaimTemplates=[{"name": name, "templateSpec": CLAIMED} for name in ("everywhere", "replica", "part")],
        resourceSharing=[{"name": "everywhere", "scope": "AllReplicas"}, {"name": "replica", "scope": "PerReplica"}],
        metadata={"labels": {"kai.scheduler/queue": "research"}, "annotations": {"grove.io/mnnvl-group": "main"}},
        **template,
    )
    cliques, [members] = manifest["spec"]["template"]["cliques"], manifest["spec"]["template"]["podCliqueScalingGroups"]
    for one in cliques:
        one["spec"]["podSpec"]["schedulerName"] = "kai-scheduler"
        one["spec"]["podSpec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "4"}}
    for one in (cliques[FRONT], members):
        one["resourceSharing"] = [{"name": "part", "scope": "PerReplica"}]
        one["rollingUpdate"] = {"maxUnavailable": 2}
    cliques[FRONT]["spec"]["autoScalingConfig"] = {"minReplicas": 1, "maxReplicas": 5, "metrics": ON_LOAD}
    members["scaleConfig"] = {"minReplicas": 1, "maxReplicas": 5, "metrics": ON_LOAD}
    members["annotations"] = {"grove.io/mnnvl-group": "members"}
    return manifest


def image(tag: str, *cliques: int) -> Callable[[Manifest], None]:
    """An edit: the pods of these cliques, all unless some are named, run another image."""

    def edit(set: Manifest) -> None:
        for index in cliques or (FRONT, PRE, DEC):
            set["spec"]["template"]["cliques"][index]["spec"]["podSpec"]["containers"][0]["image"] = tag

    return edit


def strategy(type: str) -> Callable[[Manifest], None]:
    """An edit: pods are replaced in another way."""

    def edit(set: Manifest) -> None:
        set["spec"]["updateStrategy"] = {"type": type}

    return edit


def size(count: int, index: int) -> Callable[[Manifest], None]:
    """An edit: a clique is declared with so many pods."""

    def edit(set: Manifest) -> None:
        set["spec"]["template"]["cliques"][index]["spec"]["replicas"] = count

    return edit


def replicas(count: int) -> Callable[[Manifest], None]:
    """An edit of the number of replicas of a set, a PodClique or a scaling group."""

    def edit(one: Manifest) -> None:
        one["spec"]["replicas"] = count

    return edit
