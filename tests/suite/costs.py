"""Measures what tests cost, and prints where the time goes by folder: `pytest --costs`.

CPU is that of the worker's process and of the child processes that have ended. What the servers of a control plane use is not in it,
for they outlive a test; the time on the clock has it.
"""

from __future__ import annotations

import json
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

COSTS = "costs"
PROPERTY = "cost"
Cost = tuple[float, float]
"""Seconds on the clock, and of CPU."""

DEPTH = 2
"""Folders below `tests` that are told apart: `tests/applier/cache`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of the report."""
    group = parser.getgroup("costs")
    group.addoption("--costs", action="store_true", help="print where the time goes, by folder")
    group.addoption("--costs-json", metavar="FILE", help="write the cost of each test, in seconds of clock and CPU, to FILE")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the measurement where one of the options asks for it."""
    file = config.getoption("--costs-json")
    if file and not Path(file).absolute().parent.is_dir():
        raise pytest.UsageError(f"--costs-json: there is no folder for {file}")
    if file or config.getoption("--costs"):
        config.pluginmanager.register(Costs(config), COSTS)


def cpu() -> float:
    """Returns the seconds of CPU of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class Costs:
    """The costs of the tests of a run: measured in each worker, added up in the process that reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._file = config.getoption("--costs-json")
        self._tests = dict[str, Cost]()
        self._collection: list[float] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Notes when a test begins."""
        self._began = (time.monotonic(), cpu())
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Attaches the cost of a test to the report of its last phase."""
        if call.when == "teardown":
            clock, used = self._began
            item.user_properties.append((PROPERTY, (time.monotonic() - clock, cpu() - used)))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Notes what collection has cost, imports included."""
        if (output := getattr(session.config, "workeroutput", None)) is not None:
            output[COSTS] = time.process_time()
        else:
            self._collection.append(time.process_time())

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Receives the cost of a worker's collection."""
        if (used := getattr(node, "workeroutput", {}).get(COSTS)) is not None:
            self._collection.append(used)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds the cost of a test that has ended."""
        costs: dict[str, Any] = dict(report.user_properties)
        if report.when == "teardown" and PROPERTY in costs:
            self._tests[report.nodeid] = costs[PROPERTY]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints a row for each folder, the most expensive first, and the slowest tests."""
        if self._file:
            Path(self._file).write_text(json.dumps(self._tests, indent=0))
        terminalreporter.section("where the time goes", sep="-")
        for line in table(self._tests):
            terminalreporter.write_line(line)
        if self._collection:
            terminalreporter.write_line(f"collection: {max(self._collection):.1f} s of CPU in each process")


def folder(nodeid: str) -> str:
    """Returns the folder of a test, shortened to `DEPTH` levels."""
    return "/".join(nodeid.split("::")[0].split("/")[:-1][: DEPTH + 1])


def table(tests: dict[str, Cost]) -> Iterator[str]:
    """Yields the rows of the report, as Markdown."""
    folders = defaultdict[str, list[Cost]](list)
    for nodeid, cost in tests.items():
        folders["all"].append(cost)
        folders[folder(nodeid)].append(cost)
    rows = [(name, len(costs), sum(clock for clock, _ in costs), sum(used for _, used in costs)) for name, costs in folders.items()]
    yield "| folder | tests | clock s | CPU s |"
    yield "|---|---:|---:|---:|"
    for name, count, clock, used in sorted(rows, key=lambda row: -row[2]):
        yield f"| {name} | {count} | {clock:.1f} | {used:.1f} |"
