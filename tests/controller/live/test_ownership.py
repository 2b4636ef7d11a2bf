"""Whose objects are whose, on a real server: each kind that a set makes, of each origin, while sets come, change and go.

One set for each kind, in one namespace for each origin: what has the name of one of its objects is there before it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest

from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane

from .conftest import opened
from .ownership import (
    DRIVERS,
    KINDS,
    KINDS_OF_OTHERS,
    SHAPE,
    Row,
    all_live,
    declared,
    holders,
    kinds_of_others,
    labelled,
    live,
    looked_at,
    made,
    made_of_others,
    of_another,
    plain,
    row,
    scaled_out,
    uids,
)
from .world import LiveCluster

HOSTNAMES = ["each-0-front-0", "each-0-model-0-work-0", "each-1-front-0", "each-1-model-0-work-0"]
"""Those of the pods of `each`, which wait for devices."""
ORIGINS = {"foreign": plain, "foreign with our labels": labelled, "of another owner": of_another}


@pytest.fixture
async def idle(grove_plane: ControlPlane, namespace: str) -> AsyncIterator[LiveCluster]:
    """A namespace without an operator yet."""
    async with opened(grove_plane, namespace) as there:
        yield there


def test_each_kind_that_a_set_makes_is_in_the_table() -> None:
    assert sorted(made("each")) == sorted([*KINDS, "Pod"])
    of_others = {kind for scheduler in KINDS_OF_OTHERS.values() for kind in made_of_others("each", scheduler)}
    assert {kind for kind in of_others if kind.partition(".")[0] not in {*KINDS, "Pod"}} == KINDS_OF_OTHERS.keys()


@pytest.mark.cluster
@pytest.mark.parametrize("origin", ORIGINS.values(), ids=ORIGINS.keys())
async def test_what_is_not_ours_stays_as_it_is_while_the_set_comes_changes_restarts_and_goes(origin: Any, idle: LiveCluster) -> None:
    await stays_as_it_is(idle, origin, KINDS)


@pytest.mark.cluster
@pytest.mark.parametrize("origin", ORIGINS.values(), ids=ORIGINS.keys())
async def test_so_does_what_is_of_a_kind_of_schedulers_and_drivers(origin: Any, whole_cluster: LiveCluster) -> None:
    async with kinds_of_others(whole_cluster):
        await stays_as_it_is(whole_cluster, origin, tuple(KINDS_OF_OTHERS), everywhere=True, config=DRIVERS, mnnvl_shape=SHAPE)


async def stays_as_it_is(world: LiveCluster, origin: Any, kinds: tuple[str, ...], **operator: Any) -> None:
    """Lets an operator meet one object of each kind, of which it may change none."""
    await world.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}})
    rows: list[Row] = [await origin(world, kind) for kind in kinds]
    await world.kubectl("create", "-f", "-", input=all_of(one.foreign for one in rows))
    before = await all_live(world, rows)
    assert None not in before.values()
    held = {one.set["metadata"]["name"]: True for one in rows}
    await world.start(**operator)
    for one in rows:
        await world.apply(one.set)
    await world.until(lambda: holders(world), held)
    assert await all_live(world, rows) == before, "created"
    since = len(world.results)
    for one in rows:
        await world.apply(scaled_out(one.set))
    await looked_at(world, rows, since=since)
    assert await all_live(world, rows) == before, "updated"
    await world.stop()
    await world.start(**operator)
    await looked_at(world, rows)
    await world.until(lambda: holders(world), held)
    assert await all_live(world, rows) == before, "restarted"
    await world.kubectl("delete", "podcliquesets", "--all", "--wait=false")
    await world.until(lambda: world.objects("sets"), [])
    await world.until(lambda: world.objects("pods"), [])
    assert await all_live(world, rows) == before, "deleted"


@pytest.mark.cluster
@pytest.mark.parametrize("origin", [plain, labelled], ids=["foreign", "foreign with our labels"])
async def test_once_it_is_gone_its_set_goes_on(origin: Any, idle: LiveCluster) -> None:
    await goes_on(idle, origin, KINDS)


@pytest.mark.cluster
async def test_so_does_that_of_schedulers_and_drivers(whole_cluster: LiveCluster) -> None:
    async with kinds_of_others(whole_cluster):
        await goes_on(whole_cluster, plain, tuple(KINDS_OF_OTHERS), everywhere=True, config=DRIVERS, mnnvl_shape=SHAPE)


async def goes_on(world: LiveCluster, origin: Any, kinds: tuple[str, ...], **operator: Any) -> None:
    """Has an operator held by one object of each kind, and then takes them away, one half after the other."""
    rows: list[Row] = [await origin(world, kind) for kind in kinds]
    await world.kubectl("create", "-f", "-", input=all_of(one.foreign for one in rows))
    await world.start(**operator)
    for one in rows:
        await world.apply(one.set)
    await world.until(lambda: holders(world), {one.set["metadata"]["name"]: True for one in rows})
    for gone in (rows[::2], rows[1::2]):
        await world.kubectl("delete", "-f", "-", "--wait=false", input=all_of(one.foreign for one in gone))
        await world.until(lambda: still_held(world, gone), set())  # noqa: B023 - awaited in this very round
        await world.stop()
        await world.start(**operator)
    await world.until(lambda: holders(world), {one.set["metadata"]["name"]: False for one in rows})
    assert None not in (await all_live(world, rows)).values(), "each set has made its own"


def all_of(manifests: Iterable[Manifest]) -> Manifest:
    """Objects in one, for kubectl, whose start costs more than what it does with them."""
    return {"apiVersion": "v1", "kind": "List", "items": list(manifests)}


async def still_held(world: LiveCluster, rows: list[Row]) -> set[str]:
    held = await holders(world)
    return {name for one in rows if held[name := one.set["metadata"]["name"]]}


@pytest.mark.cluster
async def test_what_is_handed_over_is_the_sets_and_goes_with_it(idle: LiveCluster, tmp_path: Path) -> None:
    """With the command that the condition names, and the object as its owner has written it."""
    rows = [row(kind) for kind in KINDS]
    await idle.kubectl("create", "-f", "-", input=all_of(one.foreign for one in rows))
    before = await uids_of(idle, rows)
    await idle.start()
    for one in rows:
        await idle.apply(one.set)
    await idle.until(lambda: holders(idle), {one.set["metadata"]["name"]: True for one in rows})
    manifests = tmp_path / "theirs.json"
    manifests.write_text(json.dumps(all_of(one.foreign for one in rows)))
    where = ("--kubeconfig", str(idle.plane.kubeconfig), "-n", idle.namespace)
    words = ("adopt", str(manifests), "--from", "kubectl-create", "--field-manager", "grove-operator", *where)
    command = [sys.executable, "-m", "grove_cli", *words]
    ended = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    await idle.until(lambda: holders(idle), {one.set["metadata"]["name"]: False for one in rows})
    other = {kind for kind, uid in (await uids_of(idle, rows)).items() if before[kind] != uid}
    assert other <= {"ControllerRevision"}, "whose data cannot change, so that one that says otherwise is made again"
    await idle.kubectl("delete", "podcliquesets", "--all", "--wait=false")
    await idle.until(lambda: kinds_left(idle, rows), ["Secret"])  # which the operator only creates: it adds no owner, and it stays theirs


async def kinds_left(world: LiveCluster, rows: list[Row]) -> list[str]:
    return [kind for kind, one in (await all_live(world, rows)).items() if one is not None]


async def uids_of(world: LiveCluster, rows: list[Row]) -> dict[str, str]:
    found = {one.kind: await live(world, one.foreign) for one in rows}
    return {kind: one["metadata"]["uid"] for kind, one in found.items() if one is not None}


async def until_garbage_is_collected(world: LiveCluster) -> None:
    """Returns once the garbage collector knows our kinds, which it looks for every 30 seconds: until then it orphans nothing of them."""
    await world.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}})
    owned = [(await of_another(world, kind)).foreign for kind in ("PodClique", "PodCliqueScalingGroup", "PodGang")]
    await world.kubectl("create", "-f", "-", input=all_of(owned))
    await world.kubectl("delete", "configmap", "owner")

    async def left() -> list[Manifest | None]:
        return [found for one in owned if (found := await live(world, one)) is not None]

    await world.until(left, [])


@pytest.mark.cluster
async def test_what_was_orphaned_stays_and_is_the_next_sets_of_its_name(world: LiveCluster) -> None:
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
async def test_what_the_shipped_operator_has_made_is_taken_over_and_goes_with_its_set(idle: LiveCluster) -> None:
    world = idle
    await world.apply(declared("each"))
    pcs = await world.get("podcliqueset", "each")
    owner = {key: pcs[key] for key in ("apiVersion", "kind")} | {"name": "each", "uid": pcs["metadata"]["uid"], "controller": True}
    references = {"ownerReferences": [{**owner, "blockOwnerDeletion": True}]}
    theirs = [one for kind, one in made("each").items() if kind not in ("ControllerRevision", "Pod")]
    manifests = all_of({**one, "metadata": {**one["metadata"], **references}} for one in theirs)
    await world.kubectl("create", "--field-manager=manager", "-f", "-", input=manifests)
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
