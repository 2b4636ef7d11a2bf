"""`grove rollout` beside the operator on a real control plane: pods are rolled, held and rolled back, and whose the fields are is told."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from .test_updates import images, with_image
from .world import BASE, FRONT, SCALED, SERVING, LiveCluster

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")

PODS = (*FRONT, *BASE, *SCALED)
CHAT = "podcliqueset.grove.io/chat"
ENDED = 'podcliqueset "chat" successfully rolled out\n'


async def grove(world: LiveCluster, *words: str) -> tuple[int, str, str]:
    """What a person runs: the exit code, and what is printed."""
    where = ("--kubeconfig", str(world.plane.kubeconfig), "-n", world.namespace)
    pipe = asyncio.subprocess.PIPE
    command = (sys.executable, "-m", "grove_cli", *words, *where)
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def rollout(world: LiveCluster, *words: str) -> tuple[int, str, str]:
    return await grove(world, "rollout", *words)


async def follow(world: LiveCluster) -> None:
    """Returns when the rollout has ended."""
    code, out, err = await rollout(world, "status", "chat", "--timeout=2m")
    assert (code, err) == (0, "")
    assert out.endswith(ENDED)


async def revisions(world: LiveCluster) -> list[list[str]]:
    """What each revision has changed."""
    code, out, _ = await rollout(world, "history", "chat", "-o", "json")
    assert code == 0
    return [each["changes"] for each in json.loads(out)]


async def empty_columns(world: LiveCluster) -> list[str]:
    """The lines of `kubectl get` with a column that has no value: nothing, or `<none>`."""
    tables = [(await world.kubectl("get", kind)).splitlines() for kind in ("pcs", "pclq", "pcsg", "pg")]
    return [line for head, *lines in tables for line in lines if "<none>" in line or len(line.split()) != len(head.split())]


async def test_pods_are_restarted_one_after_the_other(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*PODS)
    await follow(world)
    assert await empty_columns(world) == []
    before = set(await world.names("pods"))
    assert await rollout(world, "restart", "chat", "--dry-run=server") == (0, f"{CHAT} restarted (server dry run)\n", "")
    assert await rollout(world, "restart", "chat") == (0, f"{CHAT} restarted\n", "")
    await follow(world)
    await world.until_ready(*PODS)
    assert before.isdisjoint(await world.names("pods"))
    _, [change] = await revisions(world)
    assert change.startswith("front, lead, work: annotations[kubectl.kubernetes.io/restartedAt] none -> ")
    code, out, err = await grove(world, "timeline", "chat", "-o", "json")
    assert (code, err) == (0, "")
    story = json.loads(out)
    assert {"Created", "GatesOpened", "UpdateStarted", "Revision", "UpdateEnded"} <= {one["what"] for one in story["moments"]}
    assert {(one["rank"], one["attempt"], one["state"]) for one in story["pods"]} == {
        (rank, attempt, state) for rank in PODS for attempt, state in ((1, "Ended"), (2, "Running"))
    }


async def test_an_update_is_held_resumed_and_rolled_back(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*PODS)
    assert (await rollout(world, "pause", "chat"))[:2] == (0, f"{CHAT} paused\n")
    await world.apply(with_image("2"))
    await world.at_rest()
    code, out, _ = await rollout(world, "status", "chat", "--watch=false")
    assert (code, out) == (1, 'Waiting for podcliqueset "chat" rollout to finish: 0 of 8 pods are updated; it is paused...\n')
    assert await images(world) == {"1"}
    assert await rollout(world, "resume", "chat") == (0, f"{CHAT} resumed\n", "")
    await follow(world)
    assert await images(world) == {"2"}
    code, out, err = await rollout(world, "undo", "chat")
    assert (code, out) == (1, ""), "an apply owns the images"
    assert "owns spec.template.cliques[name=front].spec.podSpec.containers[name=box].image and 2 more fields" in err
    assert await rollout(world, "undo", "chat", "--to-revision=1", "--force") == (0, f"{CHAT} rolled back to revision 1\n", "")
    await follow(world)
    assert await images(world) == {"1"}
    [set] = await world.objects("sets")
    assert "updateStrategy" not in set["spec"]
    assert set["spec"]["template"]["cliques"] == SERVING["spec"]["template"]["cliques"], "no default is written"
