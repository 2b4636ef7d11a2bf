"""What a step remembered of earlier ones comes back from a bundle as it was."""

from __future__ import annotations

import json

import pytest

from grove_compiler.model.expanded.availability import ReplicaState
from grove_compiler.model.expanded.reported_breach import ReportedBreach
from grove_compiler.replay.memory import Memory, read_memory

BREACHED = ReplicaState(1, is_breached=True, breach=ReportedBreach(1_800_000_000.0, "demo-1-worker", True))


@pytest.mark.parametrize("state", [ReplicaState(0, True, True, 2, 1), BREACHED], ids=["well", "breached"])
def test_the_state_of_a_replica(state: ReplicaState) -> None:
    stored = json.loads(json.dumps(Memory(hashes=(["a", "b"], "name"), states=[state]).value()))
    assert repr(read_memory(stored, []).states) == repr([state]), "values of such classes are equal only to themselves"
