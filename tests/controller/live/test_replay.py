"""The operator's process keeps its looks on a real server, and each can be replayed elsewhere."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from applier.testing.control_plane import ControlPlane
from applier.transport import connect
from tests.cli.running import run

from .process import operator_process
from .world import AGENT, LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")
IN_MEMORY = 4


async def test_every_look_at_a_set_that_comes_up_replays_equal(grove_plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    config = {"replay": {"folder": str(kept), "bundles": 500, "inMemory": IN_MEMORY}}
    async with (
        connect(kubeconfig=str(grove_plane.kubeconfig), user_agent=AGENT) as cluster,
        operator_process(grove_plane, namespace, tmp_path / "operator", config) as process,
    ):
        world = LiveCluster(grove_plane, cluster, namespace)
        await world.apply(pod_clique_set(clique("front")))
        await world.until_ready("chat-0-front-0")

        async def written(pattern: str, most: int) -> int:
            return min(most, len(await asyncio.to_thread(lambda: list(kept.glob(pattern)))))

        # A look is recorded once its writes are done: where these are slow, the set's first one after all those that make its pod ready.
        await world.until(lambda: written(f"step-*-PodCliqueSet_{namespace}_chat.json", 1), 1)
        await world.until(lambda: written("step-*.json", IN_MEMORY), IN_MEMORY)
        process.send(signal.SIGUSR1)
        await world.until(lambda: written("asked-*.json", IN_MEMORY), IN_MEMORY)
    files = sorted(map(str, kept.glob("*.json")))
    ended = await asyncio.to_thread(run, "replay", *files)
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert len(lines) == len(files) >= 2 * IN_MEMORY
    assert {line.split()[0] for line in lines} == {"same"}
    assert {line.split()[1] for line in lines} >= {f"PodCliqueSet/{namespace}/chat", f"PodCliqueSet/{namespace}/chat[0]"}
