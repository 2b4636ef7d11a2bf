"""Our decisions against a real server's dry runs, on every spelling of nothing at every path of every kind."""

from __future__ import annotations

import pytest

from applier.testing.control_plane import ControlPlane

from .nothings import COUNT, pairs_of_nothing
from .oracle import Server, Tally, judge

SEEDS = 2 * COUNT
INTENTS = 6
SHARES = 4  # tests that share the seeds, to be run beside each other


@pytest.mark.cluster
@pytest.mark.parametrize("share", range(SHARES))
def test_nothing_is_decided_as_the_server_does(control_plane: ControlPlane, namespace: str, share: int) -> None:
    """`python -m tests.benchmarks.applier_decisions --of nothing` tries 20,000 pairs, from the same seeds on."""
    server, tally = Server(control_plane), Tally()
    server.schemas()  # so that the custom kind is served
    for seed in range(share, SEEDS, SHARES):
        for pair in pairs_of_nothing(server, namespace, seed, INTENTS):
            judge(server, pair, server, tally)
    assert tally.right["same"] > 30 and tally.right["change"] > 30  # of 192
    assert not tally.wrong, "\n\n".join(tally.wrong[:3])
    assert tally.left_to_server() < 0.04  # of 20,000 it is half of that
