"""Ends a run in time: tests that have not begun within `--budget` seconds are left out, and the summary says how many and where.

With `--touched` the tests nearest to the change come first, so that it is the others that are left out.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kube_objects.words import counted, listed

DEADLINE = pytest.StashKey[float | None]()
LEFT_OUT = pytest.StashKey[Counter[str]]()
MAX_FOLDERS = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    text = "leave out the tests that have not begun after so many seconds"
    parser.getgroup("budget").addoption("--budget", type=float, metavar="SECONDS", help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Notes when the time is up, once for all workers."""
    config.stash[LEFT_OUT] = Counter()
    if hasattr(config, "workerinput"):
        config.stash[DEADLINE] = config.workerinput["deadline"]
    else:
        budget = config.getoption("--budget")
        config.stash[DEADLINE] = None if budget is None else time.time() + budget


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Passes it on to each worker of xdist."""
    node.workerinput["deadline"] = node.config.stash[DEADLINE]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Leaves out a test once the time is up."""
    deadline = item.config.stash[DEADLINE]
    if deadline is None or time.time() < deadline:
        return None
    folder = item.path.parent
    name = folder.relative_to(item.config.rootpath) if folder.is_relative_to(item.config.rootpath) else Path(folder.name)
    item.config.stash[LEFT_OUT][str(name)] += 1
    return True


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tells the process that started this worker what was left out."""
    if hasattr(session.config, "workeroutput"):
        left_out = session.config.stash[LEFT_OUT]
        session.config.workeroutput["left_out"] = {**left_out}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Adds up what the workers left out."""
    node.config.stash[LEFT_OUT].update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints how many tests were left out, and in which folders."""
    if left_out := config.stash[LEFT_OUT]:
        folders = listed((f"{count} in {folder}" for folder, count in left_out.most_common()), MAX_FOLDERS)
        terminalreporter.write_line(f"left out after --budget: {counted(left_out.total(), 'test')} ({folders})")
