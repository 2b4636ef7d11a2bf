"""Ends every process that a test run leaves behind, also where the run was killed.

The process that reports (pytest, or xdist's controller) marks its environment, which all its descendants inherit, and starts a janitor that
holds the other end of a pipe. The pipe closes when the run ends, however it ends. Whoever bears the mark then has a moment to end by
itself, as the guards of servers do, which remove their data; the rest is ended by force. Linux tells the environment of a process
(`/proc`); elsewhere nothing is done.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest  # as a janitor, this file is run without what is installed

MARK = "GROVE_TEST_RUN"

MOMENT = 3.0
"""Seconds in which processes may end by themselves, and as many again after SIGTERM."""

PROCESSES = Path("/proc")


def pytest_configure(config: pytest.Config) -> None:
    """Starts the janitor of this run. Workers of xdist belong to the run of their controller."""
    if not hasattr(config, "workerinput") and PROCESSES.is_dir():
        os.environ[MARK] = mark = secrets.token_hex(8)
        command = [sys.executable, "-I", "-S", __file__, mark, str(MOMENT)]
        environment = {name: value for name, value in os.environ.items() if name != MARK}
        janitor = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, start_new_session=True)
        config.add_cleanup(lambda: _close(janitor))


def _close(janitor: subprocess.Popen[bytes]) -> None:
    if janitor.stdin:
        janitor.stdin.close()
    janitor.wait()


def main(mark: str, moment: str) -> int:
    """Waits for the end of the run, and ends what is left of it. Returns 1 where something is there even then."""
    with contextlib.suppress(OSError):
        while os.read(0, 1024):
            pass
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            _send(number, _marked(mark))
        until = time.monotonic() + float(moment)
        while time.monotonic() < until:
            if not any(True for _ in _marked(mark)):
                return 0
            time.sleep(0.05)
    return 1


def _send(number: signal.Signals, processes: Iterable[int]) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _marked(mark: str) -> Iterable[int]:
    """Yields the processes that have inherited the mark, and have not ended yet."""
    sought = f"{MARK}={mark}".encode()
    for folder in PROCESSES.iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):  # it has just ended, or belongs to somebody else
                if sought in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
