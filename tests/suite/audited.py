"""Checks the shared audit log at the end of a run: no operator has deleted a ready pod without a reason, or lacked a right."""

from __future__ import annotations

import pytest

from applier.testing.plugin import RUN

OPERATOR = "system:serviceaccount:grove-system:grove-operator"
"""The account of operators that tests start (`tests/controller/live/account.py`)."""
TOLD = pytest.StashKey[list[str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fails the run where one has. Not called for in workers, which own no control plane."""
    run = session.config.stash.get(RUN, None)
    log = run.folder / "plane" / "data" / "audit.log" if run else None
    if log is None or not log.exists():
        return
    from tests.invariants.check import check  # only where there were tests with a cluster: it imports the operator
    from tests.invariants.plane import keep
    from tests.invariants.rights import refused

    verdict, refusals = check(log), refused(log, OPERATOR)
    session.config.stash[TOLD] = [f"{verdict}"] if verdict.judged else []
    faults = [*verdict.faults, *(f"the operator was refused: {one}" for one in refusals)]
    if faults:
        session.config.stash[TOLD] += [*faults, f"the audit log: {keep(log)}"]
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints how many deletions were judged, and the faults."""
    for line in config.stash.get(TOLD, []):
        terminalreporter.write_line(line)
