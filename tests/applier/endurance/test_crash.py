"""Killed at every write of an apply with prune, before the server has it or before we hear of it: the next run ends the same."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from applier.errors import ApplierError
from applier.outcome import Action
from applier.testing.control_plane import ControlPlane
from applier.testing.faults import Script
from applier.testing.proxy import Faults
from applier.transport.connect import connect
from applier.transport.retries import Retries
from tests.compiled_schemas import share
from tests.connecting import connect_to

from .world import ClusterContents, after, before, look, made_true

pytestmark = pytest.mark.cluster
CALM = {Action.UNCHANGED}
IMPATIENT = Retries(tries=1)  # a process that is killed tries nothing again


async def undisturbed(plane: ControlPlane, namespace: str) -> tuple[ClusterContents, int]:
    """What the change comes to when nothing happens, and how many writes it takes."""
    async with Faults(plane) as proxy, connect_to(proxy.url) as cluster:
        await made_true(before(namespace), share(cluster, plane), namespace)
        writes = len(proxy.requests.writes)
        await made_true(after(namespace), cluster, namespace)
        return look(plane, namespace), len(proxy.requests.writes) - writes


async def killed(plane: ControlPlane, namespace: str, write: int, when: str) -> ClusterContents:
    """The world before the change, and then the change up to this write, at which we die."""
    async with connect(kubeconfig=str(plane.kubeconfig)) as cluster:
        await made_true(before(namespace), share(cluster, plane), namespace)
    start = look(plane, namespace)
    script = Script(drop_write=write, drop_when="before" if when == "before" else "after", then="refuse")
    async with Faults(plane, script) as proxy, connect_to(proxy.url, retries=IMPATIENT) as cluster:
        dying = asyncio.create_task(made_true(after(namespace), share(cluster, plane), namespace))
        dropped = asyncio.create_task(proxy.dropped.wait())
        await asyncio.wait({dying, dropped}, return_when=asyncio.FIRST_COMPLETED)
        dying.cancel()
        dropped.cancel()
        with suppress(asyncio.CancelledError, ApplierError):
            await dying
        assert proxy.injected[f"drop-{when}"] == 1
    return start


@pytest.mark.parametrize("when", ["before", "after"])
async def test_whoever_is_killed_at_any_write_is_finished_by_the_next_run(control_plane: ControlPlane, namespace: str, when: str) -> None:
    expected, writes = await undisturbed(control_plane, namespace)
    assert writes > 10
    for write in range(1, writes + 1):
        place = control_plane.create_namespace()
        start = await killed(control_plane, place, write, when)
        async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
            outcomes = await made_true(after(place), share(cluster, control_plane), place)
            assert not {outcome.action for outcome in outcomes} & {Action.FAILED, Action.HELD}, [one.reason for one in outcomes]
            end = look(control_plane, place)
            assert end.objects == expected.objects, f"killed {when} write {write}"
            again = await made_true(after(place), cluster, place)
        assert {outcome.action for outcome in again} == CALM
        kept = [key for key in start.uids if key in end.uids and key != "configmaps/sealed"]
        assert [key for key in kept if start.uids[key] != end.uids[key]] == [], "made again though it only had to be changed"
