"""A minute of churn behind a hostile server. `python -m tests.benchmarks.applier_soak` runs for as long as you like."""

from __future__ import annotations

import pytest

from applier.testing.control_plane import ControlPlane
from tests.suite.effort import runs

from .soak import soak

SECONDS = runs(60)
EVENTS = runs(1600)  # edits, and what others do; at least
PAUSE = 0.015  # seconds between two of them
BURST = 50  # writes in flight when several keys change at once; what leaks is more with every minute
POOLED = 2  # connections that the undisturbed client may keep for its next request
FLAT = 5.0  # MB: what an allocator may keep without there being a leak


@pytest.mark.cluster
@pytest.mark.timeout(400)
async def test_a_loop_stays_true_and_small_under_churn(control_plane: ControlPlane) -> None:
    account = await soak(control_plane, SECONDS, least=EVENTS, pause=PAUSE)
    assert account.wrong == []
    assert account.faults > 10 and account.edits > 100, account
    assert account.growth() < FLAT, [one.memory for one in account.samples]
    middle, end = account.most_tasks()
    assert end <= 2 * middle + BURST, (middle, end)
    assert account.left.tasks == account.start.tasks
    assert account.left.descriptors <= account.start.descriptors + POOLED
