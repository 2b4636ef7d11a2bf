"""Whose objects are whose, on a real server: each kind that a set makes, of each origin, while sets come, change and go.

One set for each kind, in one namespace for each origin: what has the name of one of its objects is there before it.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from applier.errors import NotFound
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane
from applier.transport import connect
from grove_operator.controller.operator import settings_of
from tests.step.world import all_slices, context, stored

from .resource_versions import kube_version
from .world import AGENT, World, clique, pod_clique_set

CLAIM = {"name": "shared", "templateSpec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}}}
KINDS = (
    "ControllerRevision", "HorizontalPodAutoscaler", "PodClique", "PodCliqueScalingGroup", "PodGang", "ResourceClaim", "Role",
    "RoleBinding", "Secret", "Service", "ServiceAccount",
)  # fmt: skip
THEIRS = {"example.com/theirs": "kept"}
HOSTNAMES = ["each-0-front-0", "each-0-model-0-work-0", "each-1-front-0", "each-1-model-0-work-0"]
"""Those of the pods of `each`, which wait for devices."""
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


@cache
def made(name: str) -> dict[str, Manifest]:
    """The first object of each kind that comes of a set, without its owner."""
    first: dict[str, Manifest] = {}
    for node in all_slices(stored([declared(name)]), context(settings_of(kube_version()))):
        first.setdefault(node.object["kind"], copy.deepcopy(node.object))
    for one in first.values():
        one["metadata"].pop("ownerReferences", None)
        one["metadata"].pop("namespace", None)
    return first


def row(kind: str, **metadata: Any) -> Row:
    name = kind.lower()
    foreign = copy.deepcopy(made(name)[kind])
    if kind == "Secret":
        foreign |= {"type": "Opaque", "stringData": {"password": "theirs"}}
    foreign["metadata"] = {"name": foreign["metadata"]["name"], "annotations": THEIRS, **metadata}
    return Row(kind, declared(name), foreign)


def with_labels(kind: str) -> Row:
    return row(kind, labels=made(kind.lower())[kind]["metadata"]["labels"])


async def of_another(world: World, kind: str) -> Row:
    """One that a controller of somebody else keeps, and that bears our labels besides."""
    owner = await world.get("configmap", "owner")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"], "controller": True}
    return row(kind, labels=made(kind.lower())[kind]["metadata"]["labels"], ownerReferences=[reference])


async def plain(_: World, kind: str) -> Row:
    return row(kind)


async def labelled(_: World, kind: str) -> Row:
    return with_labels(kind)


@pytest.fixture
async def idle(grove_plane: ControlPlane, namespace: str) -> AsyncIterator[World]:
    """A namespace without an operator yet."""
    async with connect(kubeconfig=str(grove_plane.kubeconfig), user_agent=AGENT) as cluster:
        there = World(grove_plane, cluster, namespace)
        try:
            yield there
        finally:
            await there.stop()


def test_each_kind_that_a_set_makes_is_in_the_table() -> None:
    assert sorted(made("each")) == sorted([*KINDS, "Pod"])


async def live(world: World, one: Manifest) -> Manifest | None:
    """An object as it is, without what servers and controllers of theirs write."""
    resource = await world.cluster.resource(Kind.of(one))
    try:
        found = copy.deepcopy(await world.cluster.get(resource, world.namespace, one["metadata"]["name"]))
    except NotFound:
        return None
    for path in OF_SERVER:
        outer, _, key = path.rpartition(".")
        (found.get(outer, {}) if outer else found).pop(key, None)
    return found


def scaled_out(set: Manifest) -> Manifest:
    return {**set, "spec": {**set["spec"], "replicas": 2}}


async def all_live(world: World, rows: list[Row]) -> dict[str, Manifest | None]:
    return {one.kind: await live(world, one.foreign) for one in rows}


async def holders(world: World) -> dict[str, bool]:
    """By set, whether its condition names what holds it."""
    sets = {one["metadata"]["name"]: (one.get("status") or {}).get("conditions") or [] for one in await world.objects("sets")}
    return {
        name: any((one["type"], one["status"]) == ("Stalled", "True") and "exists" in one["message"] for one in conditions)
        for name, conditions in sets.items()
    }


async def looked_at(world: World, rows: list[Row]) -> None:
    """Returns once the operator has looked at each set and each of its replicas again. What is held it tries for ever."""
    since = len(world.results)
    wanted = {(one.set["metadata"]["name"], replica) for one in rows for replica in (None, 0, 1)}

    async def missing() -> list[tuple[str, int | None]]:
        seen = {(one.key.name, one.key.replica) for one in world.results[since:]}
        return sorted(wanted - seen, key=str)

    await world.until(missing, [])


@pytest.mark.cluster
@pytest.mark.parametrize("origin", [plain, labelled, of_another], ids=["foreign", "foreign with our labels", "of another owner"])
async def test_what_is_not_ours_stays_as_it_is_while_the_set_comes_changes_restarts_and_goes(origin: Any, idle: World) -> None:
    world = idle
    await world.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}})
    rows = [await origin(world, kind) for kind in KINDS]
    for one in rows:
        await world.kubectl("create", "-f", "-", input=one.foreign)
    before = await all_live(world, rows)
    assert None not in before.values()
    held = {one.set["metadata"]["name"]: True for one in rows}
    await world.start()
    for one in rows:
        await world.apply(one.set)
    await world.until(lambda: holders(world), held)
    assert await all_live(world, rows) == before, "created"
    for one in rows:
        await world.apply(scaled_out(one.set))
    await looked_at(world, rows)
    assert await all_live(world, rows) == before, "updated"
    await world.stop()
    await world.start()
    await looked_at(world, rows)
    await world.until(lambda: holders(world), held)
    assert await all_live(world, rows) == before, "restarted"
    await world.kubectl("delete", "podcliquesets", "--all", "--wait=false")
    await world.until(lambda: world.objects("sets"), [])
    await world.until(lambda: world.objects("pods"), [])
    assert await all_live(world, rows) == before, "deleted"


async def uids(world: World) -> dict[tuple[str, str], str]:
    """All that bears the label of the set `each`, by kind and name; of ControllerRevisions an old one may go."""
    found: dict[tuple[str, str], str] = {}
    for one in [*made("each").values()]:
        resource = await world.cluster.resource(Kind.of(one))
        listed = (await world.cluster.list(resource, world.namespace, labels="app.kubernetes.io/part-of=each")).items
        found |= {(one["kind"], each["metadata"]["name"]): each["metadata"]["uid"] for each in listed}
    return found


async def until_garbage_is_collected(world: World) -> None:
    """Returns once the garbage collector knows our kinds, which it looks for every 30 seconds: until then it orphans nothing of them."""
    await world.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}})
    owned = [(await of_another(world, kind)).foreign for kind in ("PodClique", "PodCliqueScalingGroup", "PodGang")]
    for one in owned:
        await world.kubectl("create", "-f", "-", input=one)
    await world.kubectl("delete", "configmap", "owner")

    async def left() -> list[Manifest | None]:
        return [found for one in owned if (found := await live(world, one)) is not None]

    await world.until(left, [])


@pytest.mark.cluster
async def test_what_was_orphaned_stays_and_is_the_next_sets_of_its_name(world: World) -> None:
    await until_garbage_is_collected(world)
    await world.apply(declared("each"))
    await world.until(world.hostnames, HOSTNAMES[:2])
    await world.at_rest()
    before = await uids(world)
    assert {kind for kind, _ in before} == {*KINDS, "Pod"}
    await world.kubectl("delete", "podcliqueset", "each", "--cascade=orphan")
    await world.until(lambda: world.objects("sets"), [])
    await world.stop()
    await world.start()
    await world.at_rest()
    left = await uids(world)
    assert left == before, sorted({*before} - {*left})
    await world.apply(declared("each"))
    await world.at_rest()
    assert (await uids(world), await holders(world)) == (before, {"each": False}), "created again"
    await world.apply(scaled_out(declared("each")))
    await world.until(world.hostnames, HOSTNAMES)
    assert before.items() <= (await uids(world)).items(), "updated"
    await world.kubectl("delete", "podcliqueset", "each", "--wait=false")
    await world.until(lambda: uids(world), {})


@pytest.mark.cluster
async def test_what_the_shipped_operator_has_made_is_taken_over_and_goes_with_its_set(idle: World) -> None:
    world = idle
    await world.apply(declared("each"))
    pcs = await world.get("podcliqueset", "each")
    owner = {key: pcs[key] for key in ("apiVersion", "kind")} | {"name": "each", "uid": pcs["metadata"]["uid"], "controller": True}
    theirs = [one for kind, one in made("each").items() if kind not in ("ControllerRevision", "Pod")]
    for one in theirs:
        manifest = {**one, "metadata": {**one["metadata"], "ownerReferences": [{**owner, "blockOwnerDeletion": True}]}}
        await world.kubectl("create", "--field-manager=manager", "-f", "-", input=manifest)
    before = await uids(world)
    assert {kind for kind, _ in before} == {*KINDS} - {"ControllerRevision"}
    for _ in range(2):
        await world.start()
        await world.until(world.hostnames, HOSTNAMES[:2])
        await world.at_rest()
        assert before.items() <= (await uids(world)).items()
        assert await holders(world) == {"each": False}
        await world.stop()
    await world.start()
    await world.apply(scaled_out(declared("each")))
    await world.until(world.hostnames, HOSTNAMES)
    assert before.items() <= (await uids(world)).items(), "updated"
    await world.kubectl("delete", "podcliqueset", "each", "--wait=false")
    await world.until(lambda: uids(world), {})


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
}
"""Pairs of sets, the older one first, that want an object of one name."""


@pytest.mark.cluster
async def test_of_two_sets_that_want_one_name_the_older_one_keeps_all_it_has(world: World) -> None:
    for older, _ in COLLIDING.values():
        await world.apply(older)
    await world.at_rest()
    pods = {one["metadata"]["uid"] for one in await world.objects("pods")}
    for _, newer in COLLIDING.values():
        await world.apply(newer)
    wanted = {older["metadata"]["name"]: False for older, _ in COLLIDING.values()}
    wanted |= {newer["metadata"]["name"]: True for _, newer in COLLIDING.values()}
    await world.until(lambda: holders(world), wanted)
    await world.stop()
    await world.start()
    await world.at_rest()
    assert await holders(world) == wanted
    assert pods <= {one["metadata"]["uid"] for one in await world.objects("pods")}
    for _, newer in COLLIDING.values():
        await world.kubectl("delete", "podcliqueset", newer["metadata"]["name"])
    await world.at_rest()
    assert {one["metadata"]["uid"] for one in await world.objects("pods") if not one["metadata"].get("deletionTimestamp")} == pods
