"""Maps that lose all of their fields and are still applied: the server would store null for them, which no definition admits."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from applier import ApplyOptions, apply
from applier.desired import Desired, Graph
from applier.ref import Manifest
from applier.testing.control_plane import ControlPlane
from applier.transport import connect
from tests.definitions import with_definitions

from .lab import said

pytestmark = pytest.mark.cluster
ABSENT = object()
CONTAINER: dict[str, list[Any]] = {
    "resources": [ABSENT, {}, {"limits": {}}, {"limits": {"cpu": "1"}}, {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}],
    "securityContext": [ABSENT, {}, {"privileged": True}, {"capabilities": {}}, {"capabilities": {"add": ["NET_ADMIN"]}}],
    "lifecycle": [ABSENT, {}, {"preStop": {"sleep": {"seconds": 1}}}],
    "env": [ABSENT, [], [{"name": "A", "value": "1"}], [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]],
}
POD: dict[str, list[Any]] = {
    "volumes": [
        ABSENT,
        [],
        [{"name": "v", "emptyDir": {}}],
        [{"name": "v", "emptyDir": {"medium": "Memory"}}],
        [{"name": "v", "downwardAPI": {}}],
    ],
    "affinity": [ABSENT, {}, {"podAntiAffinity": {}}, {"nodeAffinity": {}}],
    "securityContext": [ABSENT, {}, {"runAsNonRoot": True}, {"sysctls": []}],
    "nodeSelector": [ABSENT, {}, {"a": "b"}],
    "dnsConfig": [ABSENT, {}, {"nameservers": ["10.0.0.1"]}],
    "topologySpreadConstraints": [
        ABSENT,
        [{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}],
        [{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"a": "b"}}}],
    ],
}


def chosen(of: dict[str, list[Any]], chance: random.Random) -> Manifest:
    picked = {name: chance.choice(values) for name, values in of.items()}
    return {name: json.loads(json.dumps(value)) for name, value in picked.items() if value is not ABSENT}


def without_empty_lists(value: Any) -> Any:
    """A list without items is the same as none, which is what the server makes of one that loses its items."""
    if isinstance(value, dict):
        return {name: without_empty_lists(member) for name, member in value.items() if member != []}
    return [without_empty_lists(item) for item in value] if isinstance(value, list) else value


def clique(name: str, namespace: str, seed: int) -> Manifest:
    chance = random.Random(seed)
    pod = {"containers": [{"name": "main", "image": "i", **chosen(CONTAINER, chance)}], **chosen(POD, chance)}
    spec = {"roleName": "a", "replicas": 1, "minAvailable": 1, "podSpec": pod}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


async def test_whatever_was_applied_before_the_same_comes_of_an_apply(control_plane: ControlPlane, namespace: str) -> None:
    plane = with_definitions(control_plane)
    async with connect(kubeconfig=str(plane.kubeconfig)) as cluster:

        async def applied(offset: int, prefix: str) -> str:
            cliques = [Desired(clique(f"{prefix}-{number}", namespace, number + offset)) for number in range(80)]
            return said((await apply(Graph(cliques), cluster, ApplyOptions("me"))).outcomes)

        await applied(0, "pair")
        for offset in (1000, 2000):
            assert "failed" not in await applied(offset, "pair")
            assert "failed" not in await applied(offset, f"new{offset}")
            live = {
                one["metadata"]["name"]: without_empty_lists(one["spec"]["podSpec"])
                for one in plane.objects.get("-n", namespace, "podcliques")["items"]
            }
            for number in range(80):
                assert live[f"pair-{number}"] == live[f"new{offset}-{number}"]
            assert "configured" not in await applied(offset, "pair")
