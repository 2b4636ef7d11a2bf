"""Ends what does not end by itself: a test after its own limit, the run after that of the run, both with names and stacks.

pytest-timeout determines the limit of each test (`timeout` in pyproject.toml, `@pytest.mark.timeout`). What is added here: the failure has
the stacks of all threads and of all tasks, also from a worker of xdist, whose terminal nobody sees; and no test goes on beyond the limit of
the run, `--run-limit`, counted from its start.

A test that swallows its failure is ended with its process a minute later, and a process that reports, but waits for ever, by itself. All
limits grow with the effort of a run (`tests/suite/effort.py`).
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, TextIO

import pytest
from pytest_timeout import Settings, is_debugging

from tests.suite.effort import effort
from tests.suite.stacks import stacks


class TooLong(BaseException):
    """Reports a test that has not ended in time. `pytest.fail` would not do: Hypothesis takes that for a counterexample, and goes on."""


DEADLINE = pytest.StashKey[float]()
IS_RUNNING = pytest.StashKey[bool]()
STDERR = pytest.StashKey[TextIO]()

REPEATED_AFTER = 15.0
"""Seconds until a test that still runs is failed again: the failure may have hit a task that nobody awaits, or a clean-up may hang."""

BEYOND = "beyond_limit"
"""The setting that says how many seconds later the process of a test ends that has swallowed its failures."""

BETWEEN_PHASES = 0.05
"""Seconds until a limit that is met while a test is reported is looked at again: what is raised there ends the worker."""

HEAD_START = 1.0
"""Seconds by which the names of what is running are printed before the first of these tests is failed."""

GRACE = 60.0
"""Seconds after the limit of the run in which workers may report and end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the limit of the run."""
    text = "seconds after which the run ends, and names the tests that were running"
    parser.getgroup("limits").addoption("--run-limit", type=float, metavar="SECONDS", help=text)
    parser.addini("run_limit", f"{text}; 0 is no limit", default="0")
    parser.addini(BEYOND, "seconds after its limit in which a test may still fail, before its process ends", default="60")


def pytest_configure(config: pytest.Config) -> None:
    """Notes when the run has to end; the process that reports watches over it."""
    config.stash[STDERR] = os.fdopen(os.dup(2), "w")  # as it is now: later on pytest captures what tests write
    if (given := getattr(config, "workerinput", {}).get("run_deadline")) is not None:
        config.stash[DEADLINE] = given
        return
    option = config.getoption("--run-limit")
    limit = float(config.getini("run_limit")) * _factor() if option is None else option
    if limit < 0:
        raise pytest.UsageError("--run-limit: no run ends before it begins")
    config.stash[DEADLINE] = time.time() + limit + HEAD_START if limit else float("inf")
    if limit:
        config.pluginmanager.register(Watch(limit, config.stash[STDERR]))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Passes the end of the run to each worker of xdist."""
    node.workerinput["run_deadline"] = node.config.stash[DEADLINE]


@pytest.hookimpl
def pytest_timeout_set_timer(item: pytest.Item, settings: Settings) -> bool:
    """Fails the test, with all stacks, after its limit, or at the end of the run."""
    own, left = settings.timeout * _factor(), item.config.stash[DEADLINE] - time.time()
    limit = f"{own:g} s, its limit" if own < left else "until the end of the run"
    seconds = max(min(own, left), 0.01)

    def ring(number: int, frame: FrameType | None) -> None:
        if not item.config.stash.get(IS_RUNNING, False):
            signal.setitimer(signal.ITIMER_REAL, BETWEEN_PHASES, REPEATED_AFTER)
        elif not is_debugging():
            raise TooLong(f"the test ran {limit}\n{stacks(frame)}")

    def cancel() -> None:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    item.cancel_timeout = cancel  # type: ignore[attr-defined]
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, REPEATED_AFTER)
    faulthandler.dump_traceback_later(seconds + float(item.config.getini(BEYOND)), exit=True, file=item.config.stash[STDERR])
    return True


def _running(item: pytest.Item) -> Iterator[None]:
    """Notes that a test runs, or its fixtures: what is raised now is its failure."""
    item.config.stash[IS_RUNNING] = True
    try:
        return (yield)
    finally:
        item.config.stash[IS_RUNNING] = False


pytest_runtest_setup = pytest.hookimpl(wrapper=True, tryfirst=True)(_running)
pytest_runtest_call = pytest.hookimpl(wrapper=True, tryfirst=True)(_running)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Begins no other test after the end of the run."""
    if time.time() >= item.config.stash[DEADLINE]:
        item.session.shouldfail = "the run has reached its limit"
    return (yield from _running(item))


def _factor() -> float:
    return max(1.0, effort())


class Watch:
    """Watches a run from the process that reports: names the tests that run at its end, and ends it where nothing else does."""

    def __init__(self, limit: float, stderr: TextIO) -> None:
        self._limit, self._stderr, self._running = limit, stderr, dict[str, float]()
        self._timer = threading.Timer(limit, self._end)
        self._timer.daemon = True
        self._over = threading.Event()

    def pytest_sessionstart(self) -> None:
        """Starts to count."""
        self._timer.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Notes a test that begins, in whichever process."""
        self._running[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Notes a test that has ended."""
        self._running.pop(nodeid, None)

    def pytest_unconfigure(self) -> None:
        """Stops to count."""
        self._timer.cancel()
        self._over.set()

    def _end(self) -> None:
        now = time.monotonic()
        names = [f"  {name}, for {now - began:.0f} s" for name, began in sorted(self._running.items())] or ["  no test"]
        self._say(f"\nthe run has taken {self._limit:g} s, its limit; what is running:\n" + "\n".join(names))
        if not self._over.wait(GRACE):
            self._say("the run did not end: " + ", ".join(self._running))
            os._exit(pytest.ExitCode.INTERRUPTED)

    def _say(self, text: str) -> None:
        print(text, file=self._stderr, flush=True)
