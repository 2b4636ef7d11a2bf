"""Our decisions against a real server's dry runs, on random pairs of live object and intent."""

from __future__ import annotations

import pytest

from applier.testing.control_plane import ControlPlane
from tests.permitted import ANY_POD

from .manifests import KINDS
from .oracle import Server, Tally, judge, pairs

OBJECTS_OF_A_KIND = 6
INTENTS_OF_AN_OBJECT = 5


@pytest.mark.cluster
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=ANY_POD if kind == "pod" else ()) for kind in KINDS])
def test_every_decision_is_the_one_of_the_servers_dry_run(control_plane: ControlPlane, namespace: str, kind: str) -> None:
    server, tally = Server(control_plane), Tally()
    schemas = server.schemas()
    for seed in range(OBJECTS_OF_A_KIND):
        for pair in pairs(server, namespace, seed, INTENTS_OF_AN_OBJECT, (kind,)):
            judge(server, pair, schemas, tally)
    assert tally.right and not tally.wrong, "\n\n".join(tally.wrong[:3])
