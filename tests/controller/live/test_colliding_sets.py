"""Two sets whose generated names collide, on a real server: of each kind for which there are such, the older one keeps all it has.

Admission rejects the second; here no webhook is asked. For the other kinds, no two sets can generate one name.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from applier.ref import Manifest

from .ownership import CLAIM, DRIVERS, KINDS_OF_OTHERS, holders, made, made_of_others
from .test_mnnvl import gpu_clique, install, uninstall
from .world import LiveCluster, clique, pod_clique_set

SCALED = {"minReplicas": 1, "maxReplicas": 2}


def in_nvlink_group(name: str, group: str, work: str) -> Manifest:
    """A set whose ComputeDomain has the name of its group."""
    made = pod_clique_set(gpu_clique(work), name=name)
    made["metadata"]["annotations"] = {"grove.io/mnnvl-group": group}
    return made


def sharing(name: str, template: str, scope: str, work: str) -> Manifest:
    """A set that makes a ResourceClaim of a template for all of its pods, or for those of a replica."""
    templates, shared = [{**CLAIM, "name": template}], [{"name": template, "scope": scope}]
    return pod_clique_set(clique(work), name=name, resourceClaimTemplates=templates, resourceSharing=shared)


COLLIDING = {
    "PodClique": (pod_clique_set(clique("0-c"), name="a"), pod_clique_set(clique("c"), name="a-0")),
    "PodCliqueScalingGroup": (
        pod_clique_set(clique("w"), name="b", podCliqueScalingGroups=[{"name": "0-g", "cliqueNames": ["w"]}]),
        pod_clique_set(clique("w"), name="b-0", podCliqueScalingGroups=[{"name": "g", "cliqueNames": ["w"]}]),
    ),
    "PodGang": (
        pod_clique_set(
            clique("w"), name="d", podCliqueScalingGroups=[{"name": "x", "cliqueNames": ["w"], "replicas": 2, "minAvailable": 1}]
        ),
        pod_clique_set(clique("w"), name="d-0-x"),
    ),
    "HorizontalPodAutoscaler": (
        pod_clique_set(clique("0-x", autoScalingConfig=SCALED), name="e"),
        pod_clique_set(clique("w"), name="e-0", podCliqueScalingGroups=[{"name": "x", "cliqueNames": ["w"], "scaleConfig": SCALED}]),
    ),
    "ResourceClaim": (sharing("f", "all-t", "PerReplica", "w"), sharing("f-0", "t", "AllReplicas", "v")),
    "ComputeDomain.resource.nvidia.com": (in_nvlink_group("g", "0-x", "w"), in_nvlink_group("g-0", "x", "v")),
}
"""Pairs of sets, the older one first, that want an object of one name, by its kind."""
ALONG = {"Pod": "PodClique", **{kind: "PodGang" for kind in KINDS_OF_OTHERS if kind.startswith("PodGroup")}}
"""Kinds whose names collide only where those of the objects collide that they are of."""
UNIQUE = {
    "ControllerRevision": r"(.+)-[^-]+",
    "ResourceClaimTemplate.resource.k8s.io": r"(.+)-\d+-mnnvl-claim",
    "Role": "grove.io:pcs:(.+)",
    "RoleBinding": "grove.io:pcs:(.+)",
    "Secret": "(.+)-ic-sat",
    "Service": r"(.+)-\d+",
    "ServiceAccount": "(.+)",
}
"""Kinds of which each name tells its set, so that no two sets have one in common."""


def names(pcs: str) -> dict[str, str]:
    """The name of the first object of each kind that sets of a name make."""
    objects = dict(made(pcs))
    for kind, scheduler in KINDS_OF_OTHERS.items():
        objects[kind] = made_of_others(pcs, scheduler)[kind]
    return {kind: one["metadata"]["name"] for kind, one in objects.items()}


def test_of_each_kind_two_sets_collide_or_cannot() -> None:
    assert sorted([*COLLIDING, *ALONG, *UNIQUE]) == sorted(names("a"))


@pytest.mark.parametrize("pcs", ["a", "a-0", "a-0-mnnvl-claim", "a-ic-sat"])
def test_a_name_that_is_unique_tells_its_set(pcs: str) -> None:
    found = names(pcs)
    told = {kind: re.fullmatch(pattern, found[kind]) for kind, pattern in UNIQUE.items()}
    assert {kind: match and match[1] for kind, match in told.items()} == dict.fromkeys(UNIQUE, pcs)


def test_names_of_pods_and_of_groups_of_schedulers_follow_those_of_cliques_and_gangs() -> None:
    found = names("a")
    assert re.fullmatch(f"{found['PodClique']}-[^-]+", found["Pod"])
    assert {found[kind] for kind, of in ALONG.items() if of == "PodGang"} == {found["PodGang"]}


@pytest.fixture
async def world(whole_cluster: LiveCluster) -> AsyncIterator[LiveCluster]:
    """An operator of a cluster with ComputeDomains."""
    await uninstall(whole_cluster)
    await install(whole_cluster)
    await whole_cluster.start(everywhere=True, config=DRIVERS)
    yield whole_cluster
    await whole_cluster.stop()
    await uninstall(whole_cluster)


@pytest.mark.cluster
async def test_of_two_sets_that_want_one_name_the_older_one_keeps_all_it_has(world: LiveCluster) -> None:
    for older, _ in COLLIDING.values():
        await world.apply(older)
    await world.at_rest()
    pods = await pods_that_stay(world)
    for _, newer in COLLIDING.values():
        await world.apply(newer)
    wanted = {older["metadata"]["name"]: False for older, _ in COLLIDING.values()}
    wanted |= {newer["metadata"]["name"]: True for _, newer in COLLIDING.values()}
    await world.until(lambda: holders(world), wanted)
    await world.stop()
    await world.start(everywhere=True, config=DRIVERS)
    await world.at_rest()
    assert await holders(world) == wanted
    assert pods <= await pods_that_stay(world)
    for _, newer in COLLIDING.values():
        await world.kubectl("delete", "podcliqueset", newer["metadata"]["name"])
    await world.until(lambda: pods_that_stay(world), pods)


async def pods_that_stay(world: LiveCluster) -> set[str]:
    return {one["metadata"]["uid"] for one in await world.objects("pods") if not one["metadata"].get("deletionTimestamp")}
