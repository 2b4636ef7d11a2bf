"""What holds for all tests: how much they try, and what an interrupt does."""

from __future__ import annotations

import signal
import sys

import pytest

from tests.invariants.resources import RESOURCES
from tests.suite import effort

try:
    effort.load_profile()  # before any test module, or conftest beside one, makes settings of its own
except effort.UnknownEffort as error:
    sys.exit(f"{error}")

# A shell has its background jobs ignore interrupts, and whatever a test starts would do so, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


pytest_plugins = [
    "tests.suite.audited",
    "tests.suite.budget",
    "tests.suite.collection",
    "tests.suite.costs",
    "tests.suite.janitor",
    "tests.suite.limits",
    "tests.suite.memory",
    "tests.suite.order",
    "tests.suite.scheduling",
    "tests.suite.shared_parts",
    "tests.suite.skips",
    "tests.suite.touched",
]


@pytest.fixture(scope="session")
def control_plane_bodies() -> tuple[str, ...]:
    """What the audit log has to have for the look at it at the end of the run."""
    return RESOURCES
