"""Every reason to wait, on a real control plane beside the operator: `grove why` names it, and so does the set where it is pending."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane
from grove_operator.controller import pending_condition
from tests.cli.running import run
from tests.controller.live.conftest import node, opened
from tests.controller.live.world import CONFIGURATION, World

from .situation import LEFT_ALONE, NODE, Case, Situation, cases

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")


@pytest.fixture(scope="session")
def plane(grove_plane: ControlPlane) -> ControlPlane:
    """A control plane with a node that kwok leaves alone."""
    alone = node(0)
    alone["metadata"] = {"name": NODE, "labels": {"kubernetes.io/hostname": NODE}, "annotations": LEFT_ALONE}
    alone["spec"] = {"taints": [{"key": "example.com/why", "effect": "NoSchedule"}]}
    grove_plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=json.dumps(alone))
    return grove_plane


@pytest.fixture
async def world(plane: ControlPlane, namespace: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """A namespace without an operator yet, whose sets need not be pending for long to say so."""
    monkeypatch.setattr(pending_condition, "GRACE_PERIOD", 0.5)
    async with opened(plane, namespace) as there:
        try:
            yield there
        finally:
            await there.stop()
            for pod in await there.names("pods"):
                await there.attempt("patch", "pod", pod, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')


async def why(world: World, asked: str, config: Path) -> list[Manifest]:
    """What the command says that an object waits for; nothing while the operator has not made it yet.

    It is run in this process: a start of Python is dearer than all else, and it is asked again and again.
    """
    where = ("--kubeconfig", str(world.plane.kubeconfig), "-n", world.namespace, "--config", str(config), "-o", "json")
    ended = await asyncio.to_thread(run, "why", asked, *where)
    if ended.code == 2 and ended.err.startswith("grove: there is no "):
        return []
    assert ended.code in (0, 1), ended.err
    waits: list[Manifest] = json.loads(ended.out)["waits"]
    assert ended.code == bool(waits)
    return waits


def rules_in(waits: list[Manifest]) -> Iterator[str]:
    for one in waits:
        yield one["rule"]
        yield from rules_in(one.get("waits", []))


def last_cause(waits: list[Manifest]) -> tuple[str, str]:
    """The reason and the words at the end of the first branch."""
    while below := waits[0].get("waits"):
        waits = below
    return waits[0]["reason"], waits[0]["message"]


async def condition(world: World) -> tuple[str, str]:
    """The reason and the words that the set itself bears, without the name of the object that waits."""
    [set] = await world.objects("sets")
    told: list[Any] = [one for one in set.get("status", {}).get("conditions", []) if one["type"] == "WhyPending"]
    return (told[0]["reason"], told[0]["message"].partition(": ")[2]) if told else ("", "")


async def reason(world: World) -> str:
    return (await condition(world))[0]


async def event_reasons(world: World) -> set[str]:
    """The reasons of the events about the set."""
    return {one["reason"] for one in await world.objects("events") if one["involvedObject"]["kind"] == "PodCliqueSet"}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["rule"].partition("/")[2])
async def test_the_reason_is_named(world: World, case: Case, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({**CONFIGURATION, **case.get("config", {})}))
    await world.start(config=case.get("config"))
    situation = Situation(world)
    await situation.bring_about(case)
    asked = await situation.real(case["ask"])

    async def is_named() -> bool:
        return case["rule"] in rules_in(await why(world, asked, config))

    async def is_told_alike() -> bool:
        waits = await why(world, "chat", config)
        return bool(waits) and await condition(world) == last_cause(waits)

    async def is_an_event() -> bool:
        return case.get("event", case["pending"]) in await event_reasons(world)

    await world.until(is_named, True)
    if "pending" in case:
        await world.until(lambda: reason(world), case["pending"])
        await world.until(is_told_alike, True)
        await world.until(is_an_event, True)
