"""Runs tests in a process that was forked for one mutant, and tells its parent what happened, as lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.mutation.mutant import FOUND, NEVER_ENDS, SURVIVED
from tests.benchmarks.mutation.order import Cost
from tests.benchmarks.mutation.processes import BROKEN

CACHE = "GROVE_CACHE_DIR"
MORE_MEMORY = 3 << 30
"""Bytes by which a mutant may grow: one that appends to a list for ever must not take the machine with it."""

MIN_CPU, MIN_CLOCK, TIMES = 10.0, 30.0, 10.0
"""A test does not end if it takes `TIMES` as long as without a fault, and these many seconds at least."""


class Limits:
    """How long each test may take, given what it takes without a fault."""

    def __init__(self, costs: dict[str, Cost]) -> None:
        self._costs = costs

    def cpu(self, test: str) -> float:
        """Returns the seconds of CPU."""
        return max(MIN_CPU, TIMES * self._costs[test].cpu)

    def clock(self, test: str) -> float:
        """Returns the seconds on the clock."""
        return max(MIN_CLOCK, TIMES * self._costs[test].clock)


class Failures:
    """Collects the failures of the tests that run."""

    def __init__(self) -> None:
        self.tests = dict[str, str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes a failure."""
        if report.failed:
            self.tests.setdefault(report.nodeid, report.longreprtext.strip()[-500:])


def run_mutant(session: pytest.Session, items: Sequence[pytest.Item], limits: Limits, budget: float, tell: Callable[..., None]) -> None:
    """Runs tests until one fails; tells of each that begins, and at last of the outcome."""
    failures = Failures()
    session.config.pluginmanager.register(failures)
    _limit(budget)
    for number, item in enumerate(items):
        tell(at=number)
        signal.setitimer(signal.ITIMER_PROF, limits.cpu(item.nodeid))
        item.add_marker(pytest.mark.timeout(limits.clock(item.nodeid)), append=False)
        began = time.monotonic()
        try:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=items[number + 1] if number + 1 < len(items) else None)
        except BaseException as error:
            tell(outcome=FOUND, by=f"{item.nodeid} ({type(error).__name__})", tests=number + 1)
            return
        if failures.tests:
            late = time.monotonic() - began >= limits.clock(item.nodeid)
            tell(outcome=NEVER_ENDS if late else FOUND, by=item.nodeid, tests=number + 1)
            return
    tell(outcome=SURVIVED, tests=len(items))


def run_unchanged(session: pytest.Session, items: Sequence[pytest.Item], began: Callable[[str], None], tell: Callable[..., None]) -> None:
    """Runs all tests; tells what each has cost, and which fail."""
    failures = Failures()
    session.config.pluginmanager.register(failures)
    for number, item in enumerate(items):
        began(item.nodeid)
        cpu, clock = time.process_time(), time.monotonic()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=items[number + 1] if number + 1 < len(items) else None)
        tell(test=item.nodeid, cpu=time.process_time() - cpu, clock=time.monotonic() - clock)
    tell(failures=failures.tests)


def _limit(budget: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(budget) + 1, int(budget) + 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MORE_MEMORY,) * 2)


def fork(work: Callable[[Callable[..., None]], None], caches: Path) -> tuple[int, int, Path]:
    """Forks a process that does the work; returns its id, the pipe on which it tells, and its folder, which the caller removes."""
    folder = Path(tempfile.mkdtemp(prefix="grove-mutant-"))
    out, into = os.pipe()
    sys.stdout.flush()
    if process := os.fork():
        os.close(into)
        return process, out, folder
    code = BROKEN
    try:
        os.setsid()  # what the tests start goes with it
        os.close(out)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _use_own_folders(folder, caches)
        work(lambda **said: _tell(into, said))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)  # what the parent has registered for its own end is not for us


def _use_own_folders(folder: Path, caches: Path) -> None:
    """Gives this process its own temporary folder, and its own cache of compiled rules: a mutant's must not be anybody else's."""
    os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
    tempfile.tempdir = str(folder)
    shutil.copytree(caches, folder / "caches")
    os.environ[CACHE] = str(folder / "caches")
    (folder / "caches").chmod(0o700)


def _tell(into: int, said: dict[str, Any]) -> None:
    data = json.dumps(said).encode() + b"\n"
    while data:
        data = data[os.write(into, data) :]
