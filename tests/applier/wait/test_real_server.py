"""Waiting on a real server, whose controllers make objects ready, or say why not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from applier.events import Event, Waiting
from applier.readiness import State
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane
from applier.transport import ApiCluster
from applier.wait import wait_gone, wait_ready
from applier.wait.ready import NOT_SEEN, Waited
from tests.permitted import permitted

pytestmark = pytest.mark.cluster("kube-controller-manager", "kube-scheduler", "kwok")

LATE = 60.0
POD, WIDGET = Kind("", "v1", "Pod"), Kind("", "v1", "Widget")


@pytest.fixture
def node(control_plane: ControlPlane, namespace: str) -> Iterator[str]:
    """A node for the pods of one test."""
    room = {"cpu": "8", "memory": "8Gi", "pods": "110"}
    name = f"node-{namespace}"
    metadata = {"name": name, "labels": {"only": namespace}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": room, "capacity": room}}
    control_plane.request("POST", "/api/v1/nodes", node)
    yield name
    control_plane.request("DELETE", f"/api/v1/nodes/{name}")


def deployment(namespace: str, replicas: int, **pod: Any) -> Manifest:
    box = permitted({"name": "main", "image": "example.org/web:1"})
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [box], **pod}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def create(control_plane: ControlPlane, namespace: str, manifest: Manifest) -> None:
    control_plane.request("POST", f"/apis/apps/v1/namespaces/{namespace}/deployments", manifest)


async def test_a_deployment_is_waited_for_until_its_pods_run(
    cluster: ApiCluster, control_plane: ControlPlane, namespace: str, node: str
) -> None:
    wanted = deployment(namespace, 2, nodeSelector={"only": namespace})
    create(control_plane, namespace, wanted)
    said: list[Event] = []
    [waited] = await wait_ready([wanted], cluster, seconds=LATE, sink=said.append)
    assert waited.readiness.reason == "2 replicas available"


async def test_a_quota_that_keeps_pods_away_is_named(cluster: ApiCluster, control_plane: ControlPlane, namespace: str) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}}
    control_plane.request("POST", f"/api/v1/namespaces/{namespace}/resourcequotas", quota)
    spec = {"containers": [permitted({"name": "main", "image": "example.org/web:1"})]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": spec}
    control_plane.await_answer(f"/api/v1/namespaces/{namespace}/pods", pod, "exceeded quota")
    create(control_plane, namespace, deployment(namespace, 1))
    reached = asyncio.Event()
    said: list[str] = []

    def sink(event: Event) -> None:
        if isinstance(event, Waiting):
            said.append(event.reason)
            if "exceeded quota" in event.reason:
                reached.set()

    wait = asyncio.create_task(wait_ready([deployment(namespace, 1)], cluster, seconds=LATE, sink=sink))
    await asyncio.wait_for(reached.wait(), LATE)
    wait.cancel()
    assert said[-1].startswith("0 of 1 replica updated; ReplicaFailure: FailedCreate: pods ")


async def waited_until_seen(wanted: Manifest, cluster: ApiCluster) -> Waited:
    """Waits for what does not become ready: shortly, but for longer where the server of a busy machine has not told of it by then."""
    seconds, waited = 0.3, None
    while waited is None or (waited.readiness is NOT_SEEN and seconds < LATE):
        [waited] = await wait_ready([wanted], cluster, seconds=seconds)
        seconds *= 2
    return waited


async def test_a_pod_that_fits_nowhere_is_named_with_the_schedulers_words(
    cluster: ApiCluster, control_plane: ControlPlane, namespace: str
) -> None:
    wanted = deployment(namespace, 1, nodeSelector={"only": "nowhere"})
    create(control_plane, namespace, wanted)
    pods = await cluster.resource(POD)
    async for event in cluster.watch(pods, namespace, initial=True):
        if (event.object.get("status") or {}).get("conditions"):
            break
    waited = await waited_until_seen(wanted, cluster)
    assert waited.readiness.state is State.IN_PROGRESS
    assert "1 pod: Unschedulable:" in waited.readiness.reason


async def test_a_new_object_of_a_defined_kind_with_a_status_is_in_progress(
    cluster: ApiCluster, control_plane: ControlPlane, namespace: str
) -> None:
    group = f"{namespace}.example.org"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    names = {"plural": "widgets", "kind": "Widget", "singular": "widget"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }
    widget = {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": namespace}, "spec": {}}
    path = f"/apis/{group}/v1/namespaces/{namespace}/widgets"
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    control_plane.request("POST", definitions, definition)
    try:
        [established] = await wait_ready([definition], cluster, seconds=LATE)
        assert established.readiness.is_ready
        await cluster.await_established([WIDGET._replace(group=group)])
        control_plane.request("POST", path, widget)
        waited = await waited_until_seen(widget, cluster)
        assert waited.readiness.reason == "it has no status yet"
    finally:
        control_plane.request("DELETE", f"{definitions}/widgets.{group}")


async def test_an_object_is_waited_for_until_its_finalizer_is_gone(
    cluster: ApiCluster, control_plane: ControlPlane, namespace: str
) -> None:
    metadata = {"name": "a", "namespace": namespace, "finalizers": ["example.org/hold"]}
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    live = control_plane.request("POST", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    control_plane.request("DELETE", f"{path}/a")

    def release(event: Event) -> None:
        patch = {"metadata": {"finalizers": None}}
        control_plane.request("PATCH", f"{path}/a", patch, content_type="application/merge-patch+json")

    assert await wait_gone([live], cluster, seconds=LATE, sink=release) == {}


async def test_a_job_that_fails_ends_the_wait_for_everything(cluster: ApiCluster, control_plane: ControlPlane, namespace: str) -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.org/job:1"}], "nodeSelector": {"only": "nowhere"}}
    spec = {"activeDeadlineSeconds": 1, "template": {"spec": pod}}
    job: Manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job", "namespace": namespace}, "spec": spec}
    control_plane.request("POST", f"/apis/batch/v1/namespaces/{namespace}/jobs", job)
    waiting = deployment(namespace, 1, nodeSelector={"only": "nowhere"})
    create(control_plane, namespace, waiting)
    failed, other = await wait_ready([job, waiting], cluster, seconds=LATE)
    assert failed.readiness.state is State.FAILED
    assert "DeadlineExceeded" in failed.reason
    assert (other.readiness.is_ready, other.seconds < LATE / 2) == (False, True)
