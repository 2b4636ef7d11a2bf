"""A check that is to end has what it started end with it: an engine that diagnoses for nobody refuses whoever comes next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
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
PATIENCE = 120.0


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline, f"there is no {path.name}"
        time.sleep(0.05)


def test_a_check_that_is_ended_has_the_diagnostic_stop(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NODE_NAME": "n"}
    command = [sys.executable, "-c", CHECK, DIAGNOSES.format(folder=tmp_path)]
    with subprocess.Popen(command, env=environment, start_new_session=True) as check:
        try:
            wait_for(tmp_path / "started")
            check.send_signal(signal.SIGTERM)
            assert check.wait(PATIENCE) == 128 + signal.SIGTERM
        finally:
            with suppress(ProcessLookupError):
                os.killpg(check.pid, signal.SIGKILL)
    assert (tmp_path / "stopped").exists()


def test_a_program_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        execute(("sleep", "3600"), 0.1)
