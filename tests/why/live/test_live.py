"""Every reason to wait, on a real control plane beside the operator: `grove why` names it, and so does the set where it is pending."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from itertools import filterfalse
from pathlib import Path
from typing import Any

import pytest

from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane
from grove_operator.controller import pending_condition
from tests.cli.running import run
from tests.controller.live.conftest import node, opened
from tests.controller.live.world import CONFIGURATION, LiveCluster
from tests.suite.rows import Outcomes

from .situation import LEFT_ALONE, NODE, Case, Situation, asked_in_one, called, cases, is_alone

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
async def world(plane: ControlPlane, namespace: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LiveCluster]:
    """A namespace without an operator yet, whose sets need not be pending for long to say so."""
    monkeypatch.setattr(pending_condition, "GRACE_PERIOD", 0.5)
    async with opened(plane, namespace) as there:
        try:
            yield there
        finally:
            await there.stop()
            for pod in await there.names("pods"):
                await there.attempt("patch", "pod", pod, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')


async def why(world: LiveCluster, asked: str, config: Path) -> list[Manifest]:
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


async def condition(world: LiveCluster, name: str) -> tuple[str, str]:
    """The reason and the words that a set itself bears, without the name of the object that waits."""
    [set] = [one for one in await world.objects("sets") if one["metadata"]["name"] == name]
    told: list[Any] = [one for one in set.get("status", {}).get("conditions", []) if one["type"] == "WhyPending"]
    return (told[0]["reason"], told[0]["message"].partition(": ")[2]) if told else ("", "")


async def event_reasons(world: LiveCluster, name: str) -> set[str]:
    """The reasons of the events about a set."""
    about = ("PodCliqueSet", name)
    found = [(one["involvedObject"]["kind"], one["involvedObject"]["name"], one["reason"]) for one in await world.objects("events")]
    return {reason for kind, of, reason in found if (kind, of) == about}


ALONE = asked_in_one(filter(is_alone, cases()))
TOGETHER = asked_in_one(filterfalse(is_alone, cases()))


def rule_of(case: Case) -> str:
    return str(case["rule"].partition("/")[2])


@pytest.mark.parametrize("file", sorted({asked[0]["file"] for asked in TOGETHER}))
async def test_each_reason_is_named_in_a_situation_beside_others(world: LiveCluster, file: str, tmp_path: Path) -> None:
    """One set for each situation, all of which one operator looks after: to start one costs more than most situations."""
    outcomes = Outcomes()
    await world.start()
    for number, asked in enumerate(asked for asked in TOGETHER if asked[0]["file"] == file):
        named = [called(case, f"chat{number}") for case in asked]
        try:
            await tell_reasons(world, named, tmp_path)
        except AssertionError as error:
            outcomes.note(", ".join(map(rule_of, asked)), error)
        else:
            outcomes.note(rule_of(asked[0]), None)
    outcomes.report()


@pytest.mark.parametrize("asked", ALONE, ids=lambda asked: rule_of(asked[0]))
async def test_each_reason_is_named_where_the_operator_is_configured_or_goes(world: LiveCluster, asked: list[Case], tmp_path: Path) -> None:
    await world.start(config=asked[0].get("config"))
    await tell_reasons(world, [called(case, "chat") for case in asked], tmp_path)


async def tell_reasons(world: LiveCluster, asked: list[Case], folder: Path) -> None:
    """Brings a set into the situation of some cases, and asks the question of each."""
    first = asked[0]
    config = folder / "config.yaml"
    config.write_text(json.dumps({**CONFIGURATION, **first.get("config", {})}))
    situation = Situation(world)
    await situation.bring_about(first)
    for case in asked:
        await tell_reason(world, case, await situation.real(case["ask"]), config)


async def tell_reason(world: LiveCluster, case: Case, asked: str, config: Path) -> None:
    """Returns once the command names the rule of a case, and the set and an event tell of it where they should."""
    name = case["name"]

    async def is_named() -> bool:
        return case["rule"] in rules_in(await why(world, asked, config))

    async def is_told_alike() -> bool:
        waits = await why(world, name, config)
        return bool(waits) and await condition(world, name) == last_cause(waits)

    async def is_an_event() -> bool:
        return case.get("event", case["pending"]) in await event_reasons(world, name)

    async def reason() -> str:
        return (await condition(world, name))[0]

    await world.until(is_named, True)
    if "pending" in case:
        await world.until(reason, case["pending"])
        await world.until(is_told_alike, True)
        await world.until(is_an_event, True)
