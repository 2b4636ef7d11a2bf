"""Sets that make objects of every kind, somebody else's objects of their names, and what becomes of both."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, NamedTuple

from applier.errors import NotFound
from applier.ref import Kind, Manifest
from grove_compiler.source.document import Document
from grove_operator.controller.operator import settings_of
from tests.definitions import serve
from tests.install.scenario import definition
from tests.step.world import all_slices, context, stored

from .resource_versions import kube_version
from .test_mnnvl import AS_PROPOSED, gpu_clique, uninstall
from .world import CONFIGURATION, LiveCluster, clique, pod_clique_set

CLAIM = {"name": "shared", "templateSpec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}}}
KINDS = (
    "ControllerRevision", "HorizontalPodAutoscaler", "PodClique", "PodCliqueScalingGroup", "PodGang", "ResourceClaim", "Role",
    "RoleBinding", "Secret", "Service", "ServiceAccount",
)  # fmt: skip
"""What a set makes where nobody has brought kinds of theirs, but for pods."""
KINDS_OF_OTHERS = {
    "PodGroup.scheduling.run.ai": "kai-scheduler",
    "PodGroup.scheduling.volcano.sh": "volcano",
    "ComputeDomain.resource.nvidia.com": "",
    "ResourceClaimTemplate.resource.k8s.io": "",
}
"""What a set makes of the kinds of schedulers and drivers, and for which scheduler."""
DRIVERS = {
    "network": {"autoMNNVLEnabled": True},
    "scheduler": {"profiles": [{"name": name} for name in ("default-scheduler", "kai-scheduler", "volcano")]},
}
SHAPE = "as-proposed"
"""In which sets make templates of claims, which NVIDIA's driver makes by itself."""
THEIRS = {"example.com/theirs": "kept"}
OF_SERVER = ("status", "metadata.managedFields", "metadata.resourceVersion", "metadata.generation")


class Row(NamedTuple):
    """A kind, the set that makes one of it, and somebody else's object of its name."""

    kind: str
    set: Manifest
    foreign: Manifest


def declared(name: str) -> Manifest:
    """A set that makes one of each kind."""
    front = clique("front", 1, autoScalingConfig={"minReplicas": 1, "maxReplicas": 2})
    return pod_clique_set(
        front,
        clique("work", 1, startsAfter=["front"]),
        name=name,
        podCliqueScalingGroups=[{"name": "model", "cliqueNames": ["work"], "replicas": 1, "minAvailable": 1}],
        cliqueStartupType="CliqueStartupTypeExplicit",
        resourceClaimTemplates=[CLAIM],
        resourceSharing=[{"name": "shared", "scope": "AllReplicas"}],
    )


def declared_of_others(name: str, scheduler: str = "") -> Manifest:
    """A set that makes one of each kind of a scheduler and of NVIDIA's driver."""
    work = gpu_clique("work")
    work["spec"]["podSpec"] |= {"schedulerName": scheduler} if scheduler else {}
    made = pod_clique_set(work, name=name, computeDomainConfig={"enabled": True})
    made["metadata"]["labels"] = {"kai.scheduler/queue": "team"}
    return made


@cache
def made(name: str) -> dict[str, Manifest]:
    """The first object of each kind that comes of a set of ours, without its owner."""
    return _first_of_each(declared(name), lambda one: str(one["kind"]))


@cache
def made_of_others(name: str, scheduler: str) -> dict[str, Manifest]:
    """The same of a set for a scheduler, by kind and group."""
    return _first_of_each(declared_of_others(name, scheduler), lambda one: f"{one['kind']}.{Kind.of(one).group}")


def _first_of_each(pcs: Manifest, name: Callable[[Manifest], str]) -> dict[str, Manifest]:
    first: dict[str, Manifest] = {}
    shared = context(settings_of(kube_version(), SHAPE), Document({**CONFIGURATION, **DRIVERS}))
    for node in all_slices(stored([pcs]), shared):
        first.setdefault(name(node.object), copy.deepcopy(node.object))
    for one in first.values():
        one["metadata"].pop("ownerReferences", None)
        one["metadata"].pop("namespace", None)
    return first


def row(kind: str, *, labelled: bool = False, **metadata: Any) -> Row:
    """A row of the table. Its foreign object says what ours would, so that no field of it conflicts; `labelled` with our labels."""
    if kind in KINDS_OF_OTHERS:
        scheduler = KINDS_OF_OTHERS[kind]
        name = kind.partition(".")[0].lower() + (f"-{scheduler}" if scheduler else "")
        pcs, ours = declared_of_others(name, scheduler), made_of_others(name, scheduler)[kind]
    else:
        name = kind.lower()
        pcs, ours = declared(name), made(name)[kind]
    foreign = copy.deepcopy(ours)
    if kind == "Secret":
        foreign |= {"type": "Opaque", "stringData": {"password": "theirs"}}
    labels = {"labels": ours["metadata"]["labels"]} if labelled else {}
    foreign["metadata"] = {"name": foreign["metadata"]["name"], "annotations": THEIRS, **labels, **metadata}
    return Row(kind, pcs, foreign)


async def of_another(world: LiveCluster, kind: str) -> Row:
    """One that a controller of somebody else keeps, and that bears our labels besides."""
    owner = await world.get("configmap", "owner")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"], "controller": True}
    return row(kind, labelled=True, ownerReferences=[reference])


async def plain(_: LiveCluster, kind: str) -> Row:
    return row(kind)


async def labelled(_: LiveCluster, kind: str) -> Row:
    return row(kind, labelled=True)


@asynccontextmanager
async def kinds_of_others(world: LiveCluster) -> AsyncIterator[None]:
    """Serves the kinds of schedulers and of NVIDIA's driver meanwhile."""
    groups = [definition(group, "PodGroup", "podgroups") for group in ("scheduling.run.ai", "scheduling.volcano.sh")]
    await uninstall(world)
    serve(world.plane, [AS_PROPOSED, *groups])
    try:
        yield
    finally:
        await world.stop()
        await uninstall(world)
        await world.kubectl("delete", "crd", *(one["metadata"]["name"] for one in groups))


async def live(world: LiveCluster, one: Manifest) -> Manifest | None:
    """An object as it is, without what servers and controllers of theirs write."""
    resource = await world.cluster.resource(Kind.of(one))
    try:
        return content(await world.cluster.get(resource, world.namespace, one["metadata"]["name"]))
    except NotFound:
        return None


def content(one: Manifest) -> Manifest:
    """An object without what servers and controllers of theirs write."""
    found = copy.deepcopy(one)
    for path in OF_SERVER:
        outer, _, key = path.rpartition(".")
        (found.get(outer, {}) if outer else found).pop(key, None)
    return found


async def all_live(world: LiveCluster, rows: list[Row]) -> dict[str, Manifest | None]:
    return {one.kind: await live(world, one.foreign) for one in rows}


async def holders(world: LiveCluster) -> dict[str, bool]:
    """By set, whether its condition names what holds it."""
    sets = {one["metadata"]["name"]: (one.get("status") or {}).get("conditions") or [] for one in await world.objects("sets")}
    return {
        name: any((one["type"], one["status"]) == ("Stalled", "True") and "exists" in one["message"] for one in conditions)
        for name, conditions in sets.items()
    }


async def looked_at(world: LiveCluster, rows: list[Row], replicas: int = 2, since: int | None = None) -> None:
    """Returns once the operator has looked at each set and each of its replicas again, since so many results: by default, from now on.

    What is not held it may look at but once after an edit, so that one counts from before it.
    """
    since = len(world.results) if since is None else since
    wanted = {(one.set["metadata"]["name"], replica) for one in rows for replica in (None, *range(replicas))}

    async def missing() -> list[tuple[str, int | None]]:
        seen = {(one.key.name, one.key.replica) for one in world.results[since:]}
        return sorted(wanted - seen, key=str)

    await world.until(missing, [])


def scaled_out(set: Manifest) -> Manifest:
    return {**set, "spec": {**set["spec"], "replicas": 2}}


async def uids(world: LiveCluster) -> dict[tuple[str, str], str]:
    """All that bears the label of the set `each`, by kind and name; of ControllerRevisions an old one may go."""
    found: dict[tuple[str, str], str] = {}
    for one in [*made("each").values()]:
        resource = await world.cluster.resource(Kind.of(one))
        listed = (await world.cluster.list(resource, world.namespace, labels="app.kubernetes.io/part-of=each")).items
        found |= {(one["kind"], each["metadata"]["name"]): each["metadata"]["uid"] for each in listed}
    return found
