"""Shares one control plane among all processes of a test run.

The run (pytest, or xdist's controller) owns a folder and holds the lock `run` in it for as long as it lives. The first process that needs
a control plane starts, under the lock `start`, a process that serves one; the others find it. That process waits for the lock `run`: it
gets it when the run is over or has been killed, and ends the control plane then.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from applier.testing import locks
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError
from applier.testing.kinds import PLAIN, ClusterKind
from applier.testing.plane import STATE


class Run:
    """Represents the folder of a test run, owned by the process that started it. `close` stops the control plane; it may keep the logs."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="control-plane-run-"))
        self._closed = False
        self._alive = ExitStack()
        self._alive.enter_context(locks.held(self.folder / "run"))

    def close(self, *, keep_logs: bool = False) -> Path | None:
        """Stops the control plane; returns the folder of the logs if there are any and they are to be kept. Idempotent."""
        if self._closed:
            return None
        self._closed = True
        logs = self.folder / "plane" / "logs"
        (self.folder / "closing").touch()
        if keep_logs:
            (self.folder / "keep-logs").touch()
        self._alive.close()
        with locks.held(self.folder / "serving"):  # whoever serves has it until the servers have ended, for which they have 10 s each
            pass
        if keep_logs and logs.exists():
            return logs
        shutil.rmtree(self.folder, ignore_errors=True)
        return None


def connect(run: Path, parts: Sequence[str], bodies: Sequence[str] = (), kind: ClusterKind = PLAIN) -> ControlPlane:
    """Connects to the control plane of a run; starts it if no process has yet.

    Raises `ControlPlaneError` where it does not start, to everyone who asks.
    """
    plane = run / "plane"
    with locks.held(run / "start"):
        if not (plane / STATE).exists() and not (run / "failure").exists():
            _start(run, plane, parts, bodies, kind)
    if (run / "failure").exists():
        raise ControlPlaneError((run / "failure").read_text("utf-8"))
    return ControlPlane.attach(plane)


def serve(run: Path, parts: Sequence[str], bodies: Sequence[str] = (), kind: ClusterKind = PLAIN) -> None:
    """Serves a control plane in a run's folder until the run is over."""
    with locks.held(run / "serving"), ControlPlane.start(parts=parts, bodies=bodies, folder=run / "plane", kind=kind) as plane:
        plane.publish()
        with locks.held(run / "run"):
            plane.stop(keep_logs=(run / "keep-logs").exists())
    if not (run / "closing").exists():
        # The run was killed and could not clean up itself.
        shutil.rmtree(run, ignore_errors=True)


def _start(run: Path, plane: Path, parts: Sequence[str], bodies: Sequence[str], kind: ClusterKind) -> None:
    output = run / "serve.log"
    package = Path(__file__).parent.parent.parent
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
    options = ["--run", str(run), "--parts", ",".join(parts), "--bodies", ",".join(bodies), "--cluster", kind.name]
    command = [sys.executable, "-m", "applier.testing", "serve", *options]
    with output.open("ab") as stream:
        # Not a member of our process group: an interrupt from the keyboard must not end it before the tests that use it.
        server = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, start_new_session=True)
    while not (plane / STATE).exists():
        if server.poll() is not None:
            reason = output.read_text("utf-8", errors="replace").strip() or "it ended without a word"
            (run / "failure").write_text(f"the control plane did not start: {reason}", "utf-8")
            return
        time.sleep(0.02)
