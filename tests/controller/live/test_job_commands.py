"""`grove job` beside the operator on a real control plane: one field is applied, and nothing else of the set changes hands."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from .test_training import RANKS, attempts, exit_pods, hostnames, run, told
from .world import LiveCluster

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")


async def grove(world: LiveCluster, *words: str) -> tuple[int, str, str]:
    """What a person runs: the exit code, and what is printed."""
    where = ("--kubeconfig", str(world.plane.kubeconfig), "-n", world.namespace)
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "grove_cli", "job", *words, *where, stdout=pipe, stderr=pipe)
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def suspended(world: LiveCluster) -> list[str]:
    return [one["status"] for one in await told(world, "conditions") or [] if one["type"] == "Suspended"]


async def times(world: LiveCluster) -> list[Any]:
    return [await told(world, field) for field in ("suspendTime", "completionTime")]


async def limits(world: LiveCluster) -> Any:
    [set] = await world.objects("sets")
    return set["spec"]["trainingSpec"]


async def test_a_job_is_suspended_resumed_and_restarted(world: LiveCluster) -> None:
    await run(world, maxRestarts=1, maxRuntime="1h")
    assert await grove(world, "suspend", "chat") == (0, "podcliqueset.grove.io/chat suspended\n", "")
    await world.until(lambda: hostnames(world), [])
    assert await suspended(world) == ["True"]
    edited = json.dumps({"status": {"suspendTime": await told(world, "suspendTime"), "completionTime": "2027-01-15T08:00:30Z"}})
    await world.kubectl("patch", "podcliqueset", "chat", "--subresource=status", "--type=merge", "-p", edited)
    assert (await grove(world, "resume", "chat"))[0] == 0
    await world.until_ready(*RANKS)
    await world.until(lambda: times(world), [None, None])  # what others have written goes, too
    assert await attempts(world) == {"2"}
    assert await grove(world, "restart", "chat", "--dry-run=server") == (0, "podcliqueset.grove.io/chat restarted (server dry run)\n", "")
    assert (await grove(world, "restart", "chat"))[0] == 0
    await world.until(lambda: attempts(world), {"3"})
    await world.until_ready(*RANKS)
    assert (await limits(world)).keys() == {"maxRestarts", "maxRuntime", "restartedAt"}
    assert await suspended(world) == ["False"], "a restart does not take back what was said of suspend"
    assert await told(world, "restartCount") == 0


async def test_the_timeline_of_a_job_tells_of_its_failure_and_its_end(world: LiveCluster) -> None:
    await run(world, maxRestarts=1)
    await exit_pods(world, RANKS[2], code=3)
    await world.until(lambda: attempts(world), {"2"})
    await world.until_ready(*RANKS)
    await exit_pods(world, *RANKS)
    await world.until(lambda: told(world, "phase"), "Succeeded")
    code, out, err = await grove(world, "timeline", "chat", "-o", "json")
    assert (code, err) == (0, "")
    story = json.loads(out)
    assert {"Created", "AttemptStarted", "AttemptEnded", "PodCliqueFailed", "ReplicaRestarting", "Succeeded"} <= {
        one["what"] for one in story["moments"]
    }
    assert {(one["rank"], one["attempt"]) for one in story["pods"]} == {(rank, attempt) for rank in RANKS for attempt in (1, 2)}
    assert [one["rank"] for one in story["pods"] if one["state"] == "Failed"] == [RANKS[2]]
    code, out, err = await grove(world, "restart", "chat")
    assert (code, out, "has succeeded" in err) == (2, "", True)
