"""Two minutes of churn behind a hostile server. `python -m tests.benchmarks.applier_soak` runs for as long as you like."""

from __future__ import annotations

import pytest

from applier.testing.control_plane import ControlPlane
from tests.suite.effort import runs

from .soak import soak

SECONDS = runs(120)
BURST = 50  # writes in flight when several keys change at once; what leaks is more with every minute
POOLED = 2  # connections that the undisturbed client may keep for its next request
FLAT = 8.0  # MB: what an allocator may keep without there being a leak


@pytest.mark.cluster
@pytest.mark.timeout(400)
async def test_a_loop_stays_true_and_small_under_churn(control_plane: ControlPlane) -> None:
    account = await soak(control_plane, SECONDS)
    assert account.wrong == []
    assert account.faults > 10 and account.edits > 100, account
    assert account.growth() < FLAT, [one.memory for one in account.samples]
    middle, end = account.most_tasks()
    assert end <= 2 * middle + BURST, (middle, end)
    assert account.left.tasks == account.start.tasks
    assert account.left.descriptors <= account.start.descriptors + POOLED
