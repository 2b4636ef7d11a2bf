"""Says in one line which tests were skipped, and why."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints how many tests were skipped for each reason."""
    reasons = Counter[str]()
    for report in terminalreporter.getreports("skipped"):
        where = report.longrepr
        reasons[where[2].removeprefix("Skipped: ") if isinstance(where, tuple) else str(where)] += 1
    if reasons:
        listed = "; ".join(f"{count} because {reason}" if count > 1 else reason for reason, count in reasons.most_common())
        terminalreporter.write_line(f"skipped: {listed}")
