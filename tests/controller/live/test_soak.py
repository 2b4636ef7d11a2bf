"""A minute of churn over twenty sets, of which every look replays equal. `python -m tests.benchmarks.operator_soak` runs for longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from applier.testing.control_plane import ControlPlane
from grove_compiler.replay.bundle import decode
from grove_compiler.replay.replay import replay
from grove_operator.controller.recorder import BundleFolder
from tests.features.compiling import shipped_program
from tests.suite.effort import runs

from .soak import MIN_EDITS, MIN_FAULTS, POOLED, soak

pytestmark = [pytest.mark.cluster("kwok", "kube-scheduler"), pytest.mark.timeout(900)]  # a busy machine takes long for that many looks
SECONDS = runs(60)
BURST = 80  # writes in flight when several keys change at once; what leaks is more with every minute
FLAT = 12.0  # MB: what an allocator may keep without there being a leak


REPLAYED = 1000  # looks, the last ones


async def test_twenty_sets_stay_true_and_the_operator_small_under_churn(grove_plane: ControlPlane, tmp_path: Path) -> None:
    account = await soak(grove_plane, SECONDS, bundles=BundleFolder(str(tmp_path), REPLAYED), least_looks=REPLAYED)
    assert account.wrong == [], "\n".join(account.wrong)
    assert account.faults >= MIN_FAULTS and account.edits >= MIN_EDITS, account
    assert account.growth() < FLAT, [one.memory for one in account.samples]
    middle, end = account.most_tasks()
    assert end <= 2 * middle + BURST, (middle, end)
    assert account.left.tasks == account.start.tasks
    assert account.left.descriptors <= account.start.descriptors + POOLED
    files = list(tmp_path.glob("*.json"))
    differing = [file.name for file in files if not replay(decode(file.read_bytes()), shipped_program()).is_equal]
    assert differing == []
    assert len(files) >= REPLAYED
