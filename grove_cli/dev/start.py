"""Starts a development cluster in the background, and ends it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import NamedTuple

from applier.testing import assets, build, locks
from applier.testing.errors import ControlPlaneError, NotBuilt
from applier.testing.progress import Progress
from grove_cli.cluster.session import Failed, say
from grove_cli.dev.folder import DevCluster, Folder

PACKAGES = Path(__file__).parents[2]
ENDING = 30.0
"""Seconds in which a cluster that was told to end does so; it is ended by force after that."""
A_MOMENT = 0.05
BUILD = "`grove dev up --build` builds it, once, in about 10 minutes on two cores"


class Wish(NamedTuple):
    """What the cluster is to have."""

    nodes: int
    gpus: int
    operator: bool


def ensure(folder: Folder, wish: Wish, *, builds: bool) -> tuple[DevCluster, bool]:
    """Returns the cluster that runs, and whether it was started here. Raises `Failed` if it cannot be started."""
    if state := folder.running():
        return state, False
    _programs(builds=builds)
    folder.prepare()
    with locks.held(folder.starting, lambda: say("another `grove dev up` is starting it; waiting")):
        if state := folder.running():
            return state, False
        end(folder)  # one that was interrupted while it started, or what a crash has left
        return _start(folder, wish), True


def _programs(*, builds: bool) -> None:
    """Raises `Failed` where a program of the control plane is missing, with the command that builds them."""
    chosen = os.environ.get(assets.ENVTEST_VARIABLE)
    try:
        found = _build() if builds and not chosen else assets.find()
    except NotBuilt as error:
        raise Failed(str(error) if chosen else f"the control plane is not built: {BUILD}") from None
    except ControlPlaneError as error:
        raise Failed(str(error)) from None
    if found.left_out:
        what, instead = (f"{assets.ENVTEST_VARIABLE}={chosen}", "unset it") if chosen else (found.folder, "remove it")
        raise Failed(f"{what} has no {', '.join(found.left_out)}: {instead}; then {BUILD}")


def _build() -> assets.Assets:
    """Builds what does not exist yet. Raises `Failed` without Go, with the command that adds it to this installation."""
    try:
        return assets.find()
    except NotBuilt:
        if shutil.which("go") is None and shutil.which("go", path=sysconfig.get_path("scripts")) is None:
            from grove_cli.extras import install_command

            raise Failed(f"building the control plane needs Go: https://go.dev/dl, or {install_command('control-plane')}") from None
    return build.build()


def _start(folder: Folder, wish: Wish) -> DevCluster:
    folder.state.unlink(missing_ok=True)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(PACKAGES), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
    options = [str(folder.path), str(wish.nodes), str(wish.gpus), "operator" if wish.operator else "alone"]
    command = [sys.executable, "-m", "grove_cli.dev.keeper", *options]
    with folder.output.open("wb") as output:
        # Not a member of our session: it outlives this terminal, and interrupts from its keyboard.
        keeper = subprocess.Popen(
            command, cwd=folder.path, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        return _await_ready(folder, keeper)
    except BaseException:
        _end_keeper(keeper)
        raise


def _end_keeper(keeper: subprocess.Popen[bytes]) -> None:
    keeper.terminate()
    try:
        keeper.wait(ENDING)
    except subprocess.TimeoutExpired:
        keeper.kill()
        keeper.wait()


def _await_ready(folder: Folder, keeper: subprocess.Popen[bytes]) -> DevCluster:
    with Progress("starting a cluster") as progress:
        while (state := folder.ready()) is None:
            words = folder.output.read_text("utf-8", "replace").splitlines()
            progress.last = words[-1] if words else ""
            if keeper.poll() is not None:
                raise Failed(f"the cluster did not start: {progress.last or 'it ended without a word'}")
            time.sleep(A_MOMENT)
    return state


def end(folder: Folder) -> bool:
    """Ends the cluster of a folder, and deletes what it leaves. Returns whether one ran."""
    process = folder.kept_by()
    if process is not None:
        with Progress("stopping the cluster"):
            _end_process(folder, process)
    if folder.is_ours:
        folder.clear()
    return process is not None


def _end_process(folder: Folder, process: int) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):  # the guards end the servers also where their keeper was killed
        deadline = time.monotonic() + ENDING
        if folder.kept_by() == process:
            os.kill(process, number)
        while folder.kept_by() == process:
            if time.monotonic() > deadline:
                break
            time.sleep(A_MOMENT)
        else:
            return
