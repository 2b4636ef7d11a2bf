"""What the server writes in its own way is the same the next time, whoever looks: a diff, or another apply."""

from __future__ import annotations

import json
from typing import Any

import pytest

from applier.desired import Desired, Graph, Policy
from applier.outcome import Action
from applier.ref import Kind, Manifest
from applier.run.difference import diff
from applier.run.options import ApplyOptions
from applier.run.pipeline import apply
from applier.testing.control_plane import ControlPlane
from applier.transport import connect

pytestmark = pytest.mark.cluster

PORT = {"port": 80}
CONTAINER = {"name": "a", "image": "b"}
SCALED: dict[str, Any] = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}, "maxReplicas": 2}


def service(**spec: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [PORT], **spec}}


def pods(**container: Any) -> Manifest:
    """A kind that no controller writes to, so that nothing changes between two looks."""
    return {"apiVersion": "v1", "kind": "PodTemplate", "template": {"spec": {"containers": [{**CONTAINER, **container}]}}}


CASES: dict[str, Manifest] = {
    "clusterIP": service(clusterIP=""),
    "clusterIPs": service(clusterIPs=[]),
    "nodePort": service(type="NodePort", ports=[{**PORT, "nodePort": 0}]),
    "targetPort": service(ports=[{**PORT, "targetPort": 0}]),
    "type": service(type=""),
    "sessionAffinityConfig": service(sessionAffinityConfig={}),
    "successThreshold": pods(livenessProbe={"tcpSocket": {"port": 80}, "successThreshold": 0}),
    "cpu": pods(resources={"limits": {"cpu": "100u"}}),
    "metrics": {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": {**SCALED, "metrics": []}},
    "secret": {"apiVersion": "v1", "kind": "Secret", "data": {"a": None, "b": "YQ=="}},
    "secret without data": {"apiVersion": "v1", "kind": "Secret", "data": None},
    "last-applied": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}},
}


def graph(namespace: str, name: str) -> Graph:
    return Graph([Desired({**CASES[name], "metadata": {"name": "a", "namespace": namespace}}, policy=Policy(recreate=True))])


async def reasons(plane: ControlPlane, namespace: str, name: str) -> list[str]:
    """What a diff and another apply say after an apply."""
    async with connect(kubeconfig=str(plane.kubeconfig)) as cluster:
        await apply(graph(namespace, name), cluster, ApplyOptions("me"))
        steps = [one.step for one in await diff(graph(namespace, name), cluster, ApplyOptions("me"))]
        again = (await apply(graph(namespace, name), cluster, ApplyOptions("me"))).outcomes
        said = [(step.action, step.reason) for step in steps] + [(one.action, one.reason) for one in again]
    return [f"{action}: {reason}" for action, reason in said if action is not Action.UNCHANGED]


@pytest.mark.parametrize("name", CASES)
async def test_what_was_applied_is_unchanged(control_plane: ControlPlane, namespace: str, name: str) -> None:
    assert await reasons(control_plane, namespace, name) == []


async def test_a_diff_and_an_apply_agree_after_a_client_side_apply(control_plane: ControlPlane, namespace: str) -> None:
    given = {**CASES["last-applied"], "metadata": {"name": "a", "namespace": namespace}}
    control_plane.kubectl("apply", "-f", "-", "-n", namespace, input=json.dumps(given))
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        said = (await diff(graph(namespace, "last-applied"), cluster, ApplyOptions("me")))[0]
        after = (await apply(graph(namespace, "last-applied"), cluster, ApplyOptions("me"))).outcomes[0]
        assert said.merged is not None
        live = await cluster.get(await cluster.resource(Kind("", "v1", "ConfigMap")), namespace, "a")
    assert (said.step.action, after.action) == (Action.CONFIGURED, Action.CONFIGURED)
    assert said.merged["metadata"].get("annotations") == live["metadata"].get("annotations")
