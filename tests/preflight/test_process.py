"""The process of the preflight controller: when it says that it is ready, and when it ends."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from applier.cache import Unread
from applier.errors import Forbidden
from applier.stop import Stop
from applier.testing.memory import MemoryCluster
from grove_operator.preflight.gangs import GangController
from grove_operator.preflight.process import Served, serve
from grove_operator.webhooks.service import Serving
from tests.applier.transport.certificates import authority, needs_openssl, signed

from ..shipped import program
from .injecting import values_of
from .test_gang_config import VALUES
from .test_gang_controller import world

pytestmark = needs_openssl

PATIENCE = 60.0


@pytest.fixture
def webhook(tmp_path: Path) -> Serving:
    """Admission on a port of this machine."""
    pair = signed(authority(tmp_path), "localhost")
    (folder := tmp_path / "served").mkdir()
    shutil.copy(pair.certificate, folder / "tls.crt")
    shutil.copy(pair.key, folder / "tls.key")
    return Serving("127.0.0.1", 0, str(folder), "training", "", "")


class Run:
    """One run of the process, and what it says."""

    def __init__(self, cluster: MemoryCluster, webhook: Serving) -> None:
        self.said, self.stop, self.is_ready = list[str](), Stop(), asyncio.Event()
        controller, values = GangController(cluster, values_of(VALUES), program()), values_of(VALUES)
        self.ended = serve(cluster, controller, values, program(), Served(webhook), self.stop, self._say)

    def _say(self, text: str) -> None:
        self.said.append(text)
        if text == "ready":
            self.is_ready.set()


async def test_it_is_ready_once_the_cluster_is_read_and_ends_when_it_is_asked_to(webhook: Serving) -> None:
    run = Run(world(), webhook)
    task = asyncio.create_task(run.ended)
    await asyncio.wait_for(run.is_ready.wait(), PATIENCE)
    run.stop.cancel()
    await asyncio.wait_for(task, PATIENCE)
    assert [one.partition(" on ")[0] for one in run.said] == ["listening", "ready"]


async def test_it_is_never_ready_where_the_cluster_may_not_be_read(webhook: Serving) -> None:
    cluster = world()
    cluster.fail(lambda request: request.verb in ("list", "watch"), Forbidden(403, "Forbidden", "pods is forbidden"), times=-1)
    run = Run(cluster, webhook)
    with pytest.raises(Unread, match="pods is forbidden"):
        await asyncio.wait_for(run.ended, PATIENCE)
    assert "ready" not in run.said


async def test_it_is_never_ready_when_it_is_stopped_before_the_cluster_is_read(webhook: Serving) -> None:
    cluster = world()
    cluster.before = never
    run = Run(cluster, webhook)
    run.stop.cancel()
    await asyncio.wait_for(run.ended, PATIENCE)
    assert "ready" not in run.said


async def never(_: object) -> None:
    await asyncio.Event().wait()
