"""`grove serve` beside an operator on a real server: the page's data follow a set that comes up."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from applier.testing.control_plane import ControlPlane
from applier.transport import connect

from .process import PATIENCE, operator_process
from .world import AGENT, LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")


@asynccontextmanager
async def serving(plane: ControlPlane, namespace: str) -> AsyncIterator[str]:
    """The URL of a page that is served until the block ends."""
    options = ["--kubeconfig", str(plane.kubeconfig), "-n", namespace, "--port", "0"]
    started = await asyncio.create_subprocess_exec(sys.executable, "-m", "grove_cli", "serve", *options, stderr=asyncio.subprocess.PIPE)
    assert started.stderr is not None
    try:
        said = (await asyncio.wait_for(started.stderr.readline(), PATIENCE)).decode()
        found = re.search(r"http://\S+", said)
        assert found, said
        yield found[0]
    finally:
        started.kill()
        await started.wait()


async def states(url: str) -> dict[str, str]:
    """The mood of each object, by kind and name."""
    async with aiohttp.ClientSession() as client, client.get(f"{url}graph") as answer:
        graph = json.loads(await answer.text())
    return {"/".join(graph["nodes"][index][:2]): mood for index, _, mood in graph["states"]}


async def test_a_set_that_comes_up_is_shown_as_it_does(grove_plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    async with (
        connect(kubeconfig=str(grove_plane.kubeconfig), user_agent=AGENT) as cluster,
        serving(grove_plane, namespace) as url,
    ):
        world = LiveCluster(grove_plane, cluster, namespace)
        assert await states(url) == {}
        await world.apply(pod_clique_set(clique("front")))

        async def of_the_clique() -> str | None:
            return (await states(url)).get("PodClique/chat-0-front")

        async def moods() -> set[str]:
            return set((await states(url)).values())

        await world.until(of_the_clique, "missing")  # nobody makes it yet
        async with operator_process(grove_plane, namespace, tmp_path / "operator", {}):
            await world.until(of_the_clique, "ready")
            await world.until(moods, {"ready"})
        assert {"PodCliqueSet/chat", "PodGang/chat-0", "Service/chat-0"} <= (await states(url)).keys()
