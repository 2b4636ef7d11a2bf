"""The operator as a process of its own, behind a proxy of its own: it can be killed, stopped and cut off, and what it asks is counted."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from applier.testing.control_plane import ControlPlane
from applier.testing.counts import Requests
from applier.testing.proxy import Faults
from applier.testing.users import User, write_kubeconfig

from .account import ACCOUNT, token_of

LEASE = "leases.coordination.k8s.io"
PATIENCE = 120.0
"""Seconds in which a process that was asked to end does so, however busy the machine is."""
CONFIG = {
    "apiVersion": "operator.config.grove.io/v1alpha1",
    "kind": "OperatorConfiguration",
    "server": {"healthProbes": {"port": 0}, "metrics": {"port": 0}},  # several run beside each other
}


class Process:
    """One `grove operator run`."""

    def __init__(self, proxy: Faults, process: asyncio.subprocess.Process, log: Path) -> None:
        self.proxy, self._process, self.log = proxy, process, log

    @property
    def writes(self) -> Requests:
        """What it has written so far, but for the lease."""
        return Requests(one for one in self.proxy.requests.writes if one.resource != LEASE)

    @property
    def leads(self) -> bool:
        """Whether it has ever taken the lease: who stands by only reads it."""
        return any(200 <= one.code < 300 for one in self.proxy.requests.writes.only(resource=LEASE))

    def send(self, number: signal.Signals) -> None:
        """Sends a signal."""
        os.kill(self._process.pid, number)

    async def ended(self) -> int:
        """Waits for its end, and gives its exit code."""
        return await asyncio.wait_for(self._process.wait(), PATIENCE)


@asynccontextmanager
async def operator_process(plane: ControlPlane, namespace: str, folder: Path, config: dict[str, Any]) -> AsyncIterator[Process]:
    """A process that looks after a namespace until the block ends, with the rights of an installed one, and leases in that namespace."""
    folder.mkdir()
    file, log, account = folder / "config.yaml", folder / "log", User("grove-operator", token_of(plane), folder / "kubeconfig")
    plane.grant(ACCOUNT, ["get", "create", "patch"], ["leases"], group="coordination.k8s.io", namespace=namespace)
    file.write_text(json.dumps({**CONFIG, **config}))
    async with Faults(plane) as proxy:
        write_kubeconfig(account, proxy.url, None)
        options = ["--kubeconfig", str(account.kubeconfig), "--config", str(file), "--namespace", namespace]
        with log.open("wb") as output:
            started = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "grove_cli", "operator", "run", *options, stdout=output, stderr=output
            )
        try:
            yield Process(proxy, started, log)
        finally:
            if started.returncode is None:
                started.kill()
                await started.wait()
