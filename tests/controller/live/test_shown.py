"""The operator's process shows itself: probes, metrics, a log that programs can read."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from applier.testing.control_plane import ControlPlane
from applier.transport import connect

from .process import operator_process
from .world import AGENT, LiveCluster, clique, pod_clique_set

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


async def fetched(url: str) -> tuple[int, str]:
    try:
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            return answer.status, await answer.text()
    except aiohttp.ClientConnectionError:
        return 0, ""


def shown_at(health: int, metrics: int) -> dict[str, Any]:
    at = {"healthProbes": {"bindAddress": "127.0.0.1", "port": health}, "metrics": {"bindAddress": "127.0.0.1", "port": metrics}}
    return {"server": at, "logFormat": "json"}


async def test_probes_metrics_and_log_tell_of_a_set_that_came_up(grove_plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    health, metrics = free_ports(2)
    async with (
        connect(kubeconfig=str(grove_plane.kubeconfig), user_agent=AGENT) as cluster,
        operator_process(grove_plane, namespace, tmp_path / "operator", shown_at(health, metrics)) as process,
    ):
        world = LiveCluster(grove_plane, cluster, namespace)
        await world.until(lambda: fetched(f"http://127.0.0.1:{health}/readyz"), (200, "leading\n"))
        await world.apply(pod_clique_set(clique("front")))
        await world.until_ready("chat-0-front-0")

        async def is_timed() -> bool:
            _, text = await fetched(f"http://127.0.0.1:{metrics}/metrics")
            return 'grove_operator_set_ready_seconds_count{after="creation"} 1.0' in text

        await world.until(is_timed, True)
        _, text = await fetched(f"http://127.0.0.1:{metrics}/metrics")
        assert 'grove_operator_writes_total{action="created",kind="Pod",reason="Missing"} 1.0' in text
        assert 'grove_operator_requests_total{resource="pods",verb=' in text

        async def told() -> set[str]:
            lines = [json.loads(line) for line in (await asyncio.to_thread(process.log.read_text)).splitlines()]
            assert any("1 Pod" in line.get("created", "") for line in lines)
            return {line["msg"] for line in lines} & {"started", "listening", "leading", "decided"}

        await world.until(told, {"started", "listening", "leading", "decided"})


async def test_a_port_that_is_taken_is_told_and_nothing_is_written(grove_plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with operator_process(grove_plane, namespace, tmp_path / "operator", shown_at(0, port)) as process:
            assert await process.ended() == 2
            assert f"cannot serve metrics at 127.0.0.1:{port}" in process.log.read_text()
