"""`grove operator run --once` on a real control plane: it sees what the loop would write, and writes nothing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from .test_life import versions
from .world import BASE, FRONT, SCALED, SERVING, LiveCluster

EXAMPLES = Path(__file__).parents[3] / "examples/rules"
pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")


async def once(world: LiveCluster, *options: str) -> tuple[int, str]:
    command = [
        sys.executable,
        "-m",
        "grove_cli",
        "operator",
        "run",
        "--once",
        "--kubeconfig",
        str(world.plane.kubeconfig),
        "-n",
        world.namespace,
        *options,
    ]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout


async def test_a_set_that_runs_leaves_nothing_to_do_but_what_other_rules_would_change(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await world.until(lambda: once(world), (0, "nothing to do\n"))
    code, told = await once(world, "--rules", str(EXAMPLES / "network-policy"))
    assert (code, [line.split() for line in told.splitlines() if line.startswith("  ")]) == (
        1,
        [["create", f"NetworkPolicy.networking.k8s.io/{world.namespace}/chat"]],
    )
    assert await world.kubectl("get", "networkpolicies", "-o", "name") == ""


async def test_what_is_missing_foreign_or_left_over_is_told_and_stays(world: LiveCluster) -> None:
    await world.apply(SERVING)
    await world.until_ready(*FRONT, *BASE, *SCALED)
    await world.at_rest()
    await world.stop()
    await world.kubectl("delete", "service", "chat-0")
    await world.kubectl("label", "podclique", "chat-0-front", "app.kubernetes.io/component=mine", "--overwrite")
    await world.kubectl("scale", "podcliquescalinggroup", "chat-0-model", "--replicas=1")
    before = await versions(world)
    code, told = await once(world)
    found = [(line.split()[0], line.split()[1].rpartition("/")[2]) for line in told.splitlines() if line.startswith("  ")]
    assert code == 1
    assert ("create", "chat-0") in found
    assert ("configure", "chat-0-front") in found
    assert {("delete", name) for name in ("chat-0-model-1-lead", "chat-0-model-1-work", "chat-0-model-0")} <= set(found)
    assert await versions(world) == before
