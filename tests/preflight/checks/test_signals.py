"""A check that is to end has what it started end with it: an engine that diagnoses for nobody refuses whoever comes next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from preflight_images.dcgm_diag.check import execute

ROOT = Path(__file__).resolve().parents[3]
DIAGNOSES = """trap 'echo > {folder}/stopped; exit 0' TERM; echo > {folder}/started; while :; do sleep 0.1; done"""
CHECK = """
import sys
from preflight_images.dcgm_diag.check import execute
from preflight_images.shared.run import main
main("test", lambda *_: execute(("sh", "-c", sys.argv[1]), 3600))
"""
IN_THE_MIDDLE_OF_A_START = """
import os, pathlib, signal, subprocess, sys, time
class Slow(subprocess.Popen):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        while not pathlib.Path(sys.argv[2]).exists():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)
subprocess.Popen = Slow
"""
PATIENCE = 120.0


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline, f"there is no {path.name}"
        time.sleep(0.05)


@contextmanager
def checking(program: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a check with a diagnostic that never ends by itself."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NODE_NAME": "n"}
    command = [sys.executable, "-c", program, DIAGNOSES.format(folder=folder), str(folder / "started")]
    with subprocess.Popen(command, env=environment, start_new_session=True) as check:
        try:
            yield check
        finally:
            with suppress(ProcessLookupError):
                os.killpg(check.pid, signal.SIGKILL)


def test_a_check_that_is_ended_has_the_diagnostic_stop(tmp_path: Path) -> None:
    with checking(CHECK, tmp_path) as check:
        wait_for(tmp_path / "started")
        check.send_signal(signal.SIGTERM)
        assert check.wait(PATIENCE) == 128 + signal.SIGTERM
    assert (tmp_path / "stopped").exists()


def test_a_check_that_is_ended_while_it_starts_the_diagnostic_has_it_stop(tmp_path: Path) -> None:
    with checking(IN_THE_MIDDLE_OF_A_START + CHECK, tmp_path) as check:
        assert check.wait(PATIENCE) == 128 + signal.SIGTERM
    assert (tmp_path / "stopped").exists()


def test_a_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        execute(("sleep", "3600"), 0.1)
