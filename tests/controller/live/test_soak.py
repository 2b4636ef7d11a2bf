"""A minute of churn over twenty sets. `python -m tests.benchmarks.operator_soak` runs for as long as you like."""

from __future__ import annotations

import pytest

from applier.testing.control_plane import ControlPlane

from .soak import LEAST_EDITS, LEAST_FAULTS, POOLED, soak

pytestmark = pytest.mark.cluster("kwok", "kube-scheduler")
SECONDS = 60.0
BURST = 80  # writes in flight when several keys change at once; what leaks is more with every minute
FLAT = 12.0  # MB: what an allocator may keep without there being a leak


async def test_twenty_sets_stay_true_and_the_operator_small_under_churn(grove_plane: ControlPlane) -> None:
    account = await soak(grove_plane, SECONDS)
    assert account.wrong == [], "\n".join(account.wrong)
    assert account.faults >= LEAST_FAULTS and account.edits >= LEAST_EDITS, account
    assert account.growth() < FLAT, [one.memory for one in account.samples]
    middle, end = account.most_tasks()
    assert end <= 2 * middle + BURST, (middle, end)
    assert account.left.tasks == account.start.tasks
    assert account.left.descriptors <= account.start.descriptors + POOLED
