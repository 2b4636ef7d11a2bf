"""What a server stores of any kind stays as it is when it is applied again."""

from __future__ import annotations

import pytest

from applier.decision import Verdict, decide
from applier.ref import Kind
from applier.testing.control_plane import ControlPlane
from tests.permitted import ANY_POD

from .nothings import every_kind
from .oracle import Server

NAMES = [manifest["kind"] for manifest in every_kind("a")]
NUMBERS = [pytest.param(number, marks=ANY_POD if name == "Pod" else (), id=name) for number, name in enumerate(NAMES)]


@pytest.mark.cluster
@pytest.mark.parametrize("number", NUMBERS)
def test_applying_it_again_changes_nothing(control_plane: ControlPlane, namespace: str, number: int) -> None:
    server, manifest = Server(control_plane), every_kind(namespace)[number]
    server.schemas()  # so that the custom kind is served
    path = server.path_of(manifest, namespace)
    applied = server.apply(path, manifest, "us")
    assert applied.status == 201, applied.body.get("message")
    try:
        decision = decide(manifest, server.ask("GET", path).body, server.get(Kind.of(manifest)), manager="us")
        assert (decision.verdict, decision.reason) == (Verdict.SAME, "")
    finally:
        server.ask("DELETE", path)
