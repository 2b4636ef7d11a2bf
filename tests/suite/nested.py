"""Runs pytest inside of a test, with the plugins of this folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0

CONFTEST = """
from tests.suite import janitor
janitor.MOMENT = 0.3
pytest_plugins = ["tests.suite.budget", "tests.suite.costs", "tests.suite.janitor", "tests.suite.limits", "tests.suite.skips"]
"""
LOADED = ("pytest_asyncio.plugin", "pytest_timeout", "xdist.plugin")


def start(folder: Path, tests: str, *arguments: str) -> subprocess.Popen[str]:
    """Starts a run of these tests in a folder."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_it.py").write_text(tests)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": ",".join(LOADED)}
    options = ("-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "--rootdir", str(folder), *arguments)
    command, pipe = [sys.executable, "-m", "pytest", *options, str(folder)], subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=subprocess.STDOUT, text=True)


def run(folder: Path, tests: str, *arguments: str) -> tuple[int, str]:
    """Runs these tests; returns the exit code, and what was printed."""
    process = start(folder, tests, *arguments)
    try:
        said = process.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # for its stacks
        raise AssertionError(f"the run has not ended within {PATIENCE:g} s:\n{process.communicate(timeout=PATIENCE)[0]}") from None
    return process.returncode, said
