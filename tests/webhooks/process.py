"""`grove operator webhooks` as a program of its own, with a certificate that tests have an API server trust."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from applier.testing.control_plane import ControlPlane
from tests.applier.transport.certificates import authority, signed
from tests.cli.running import ROOT

PATIENCE = 90.0
"""Seconds. On an idle machine it is ready in two."""


class Served(NamedTuple):
    """Where webhooks are served, how an API server trusts them, and who runs them."""

    url: str
    bundle: str
    process: subprocess.Popen[bytes]


@contextmanager
def webhooks(plane: ControlPlane, folder: Path, *options: str) -> Iterator[Served]:
    """Runs them until the block ends. Their files are in the folder, the log among them."""
    served = folder / "served"
    served.mkdir(parents=True, exist_ok=True)
    ca = authority(folder)
    pair = signed(ca, "webhook")
    (served / "tls.crt").write_text(pair.certificate.read_text())
    (served / "tls.key").write_text(pair.key.read_text())
    command = [sys.executable, "-m", "grove_cli", "operator", "webhooks", "--port", "0", "--cert-dir", str(served)]
    arguments = [*command, "--kubeconfig", str(plane.kubeconfig), *options]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(arguments, cwd=ROOT, stderr=output, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        deadline = time.monotonic() + PATIENCE
        while " ready " not in log.read_text():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        port = re.search(r"listening port=(\d+)", log.read_text())
        assert port is not None
        yield Served(f"https://127.0.0.1:{port[1]}", base64.b64encode(ca.certificate.read_bytes()).decode(), process)
    finally:
        process.terminate()
        process.wait(60)
