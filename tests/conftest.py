"""What holds for all tests: how long properties may take, what an interrupt does, and which tests get a second chance."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

# Properties have no time limit: a busy machine is no counterexample.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

# A shell has its background jobs ignore interrupts, and whatever a test starts would do so, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


MESSAGE = 4000
"""Characters of a failure that are printed: enough for the status of a set and of its pods."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs a test on the real control plane once more if it has failed; the summary names it (`RERUN`).

    etcd, the API server, its controllers and a scheduler share the machine with the tests, and each has time limits of its own. What needs
    no server has one chance: where that fails at times, it is wrong at times.
    """
    for item in items:
        if item.get_closest_marker("cluster"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints why a test failed that passed when it was run again: the failure is rare, and its state is gone by then."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"first run of {report.nodeid}", sep="-")
        terminalreporter.write_line(str(getattr(report.longrepr, "reprcrash", report.longrepr))[:MESSAGE])
