"""No process outlives the test run that it belongs to, however that ends."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.suite.nested import PATIENCE, start

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes and their environment are read from /proc")

LEAVES_ONE = """
import os, pathlib, subprocess, time
def test_it():
    here = pathlib.Path(__file__).parent
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    stubborn = subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 600; sleep 600"], start_new_session=True)
    (here / "partial").write_text(f"{child.pid} {stubborn.pid} {os.getpid()}")
    (here / "partial").rename(here / "processes")
"""
AND_WAITS = "    time.sleep(600)\n"
processes = pytest.mark.parametrize("processes", [(), ("-n", "1")], ids=["one process", "workers"])


def await_processes(folder: Path) -> list[int]:
    """The processes that the test has started, and its own."""
    until = time.monotonic() + PATIENCE
    while not (folder / "processes").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    return [int(word) for word in (folder / "processes").read_text().split()]


def await_end(process: int) -> None:
    """Waits until a process has ended; one that nobody has waited for yet has no command line any more."""
    until = time.monotonic() + PATIENCE
    while (command := Path(f"/proc/{process}/cmdline")).exists() and command.read_bytes():
        assert time.monotonic() < until, f"{command.read_bytes()!r} is still there"
        time.sleep(0.02)


@processes
def test_what_a_test_leaves_behind_is_ended_with_the_run(tmp_path: Path, processes: tuple[str, ...]) -> None:
    assert "1 passed" in start(tmp_path, LEAVES_ONE, *processes).communicate(timeout=PATIENCE)[0]
    for process in await_processes(tmp_path):
        await_end(process)


@processes
def test_what_a_killed_run_leaves_behind_is_ended(tmp_path: Path, processes: tuple[str, ...]) -> None:
    run = start(tmp_path, LEAVES_ONE + AND_WAITS, *processes)
    there = await_processes(tmp_path)
    run.kill()
    run.wait()
    for process in there:
        await_end(process)


def test_what_a_killed_worker_leaves_behind_is_ended_with_the_run(tmp_path: Path) -> None:
    run = start(tmp_path, LEAVES_ONE + AND_WAITS, "-n", "1", "--maxfail", "1")
    *children, worker = await_processes(tmp_path)
    os.kill(worker, signal.SIGKILL)
    assert "crashed while running 'test_it.py::test_it'" in run.communicate(timeout=PATIENCE)[0]
    for process in children:
        await_end(process)
