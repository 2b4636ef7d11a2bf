"""What a server stores of any kind stays as it is when it is applied again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from applier.decision import Verdict, decide
from applier.ref import Kind
from applier.testing.control_plane import ControlPlane
from tests.permitted import ANY_POD

from .nothings import every_kind
from .oracle import Server

SINCE = {
    "networking.k8s.io/v1 IPAddress": "1.33",
    "networking.k8s.io/v1 ServiceCIDR": "1.33",
    "resource.k8s.io/v1 DeviceClass": "1.34",
    "resource.k8s.io/v1 ResourceClaim": "1.34",
    "resource.k8s.io/v1 ResourceClaimTemplate": "1.34",
    "resource.k8s.io/v1 ResourceSlice": "1.34",
    "scheduling.k8s.io/v1alpha1 Workload": "1.35",
    "storage.k8s.io/v1 VolumeAttributesClass": "1.34",
}
"""From which version of Kubernetes on servers have a kind, where that is later than 1.32."""


def _marks(kind: str, named: str) -> Iterator[pytest.MarkDecorator]:
    if kind == "Pod":
        yield ANY_POD
    if named in SINCE:
        yield pytest.mark.served_since(SINCE[named], named)


NUMBERS = [
    pytest.param(number, marks=[*_marks(one["kind"], f"{one['apiVersion']} {one['kind']}")], id=one["kind"])
    for number, one in enumerate(every_kind("a"))
]


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
