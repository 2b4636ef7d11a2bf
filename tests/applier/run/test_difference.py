"""Differences on a real API server: the same verdicts as its own, and nothing shown that would not happen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from applier.desired import Desired, Graph
from applier.outcome import Action, dotted
from applier.ref import Manifest
from applier.run.difference import Difference, diff
from applier.run.dry_run import patch_to
from applier.run.options import ApplyOptions
from applier.run.pipeline import apply
from applier.testing.control_plane import ControlPlane
from applier.transport import connect

from ..things import manifest

MANAGER = "me"


def web(name: str, namespace: str, spec: Any = None, **container: Any) -> Manifest:
    """A kind of which controllers write nothing but the status, so that nothing changes between two looks."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i:1", **container}]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template, **(spec or {})}
    return {**manifest(name, "ReplicaSet", namespace, spec=spec), "apiVersion": "apps/v1"}


async def differences(
    plane: ControlPlane, *wanted: Manifest, live: tuple[Manifest, ...] = (), ask_server: bool = False, **how: Any
) -> list[Difference]:
    """How what is wanted differs once `live` has been applied under the same name."""
    async with connect(kubeconfig=str(plane.kubeconfig)) as cluster:
        await apply(Graph([Desired(one) for one in live]), cluster, ApplyOptions(MANAGER))
        return await diff(Graph([Desired(one) for one in wanted]), cluster, ApplyOptions(MANAGER, **how), ask_server=ask_server)


def priority(namespace: str, **fields: Any) -> Manifest:
    return manifest(f"class-{namespace}", "PriorityClass", value=10, **fields)


@pytest.mark.cluster
async def test_a_default_that_is_no_longer_said_is_no_difference(control_plane: ControlPlane, namespace: str) -> None:
    said = {"replicas": 1}
    live = (
        web("web", namespace, said, imagePullPolicy="IfNotPresent"),
        manifest("a", "Secret", namespace, type="Opaque", data={"x": "YQ=="}),
        priority(namespace, preemptionPolicy="PreemptLowerPriority", globalDefault=False),
    )
    wanted = (web("web", namespace), manifest("a", "Secret", namespace, data={"x": "YQ=="}), priority(namespace))
    found = await differences(control_plane, *wanted, live=live)
    assert {(one.step.action, tuple(one.step.changes)) for one in found} == {(Action.CONFIGURED, ())}


@pytest.mark.cluster
async def test_an_address_that_is_no_longer_said_is_kept(control_plane: ControlPlane, namespace: str) -> None:
    spec = {"ports": [{"port": 80}], "selector": {"a": "b"}}
    async with connect(kubeconfig=str(control_plane.kubeconfig)) as cluster:
        await apply(Graph([Desired(manifest("s", "Service", namespace, spec=spec))]), cluster, ApplyOptions(MANAGER))
        address = control_plane.request("GET", f"/api/v1/namespaces/{namespace}/services/s")["spec"]["clusterIP"]
    named = manifest("s", "Service", namespace, spec={**spec, "clusterIP": address})
    (found,) = await differences(control_plane, manifest("s", "Service", namespace, spec=spec), live=(named,))
    assert (found.step.action, found.step.changes) == (Action.CONFIGURED, [])


@pytest.mark.cluster
async def test_what_the_server_puts_in_its_place_is_shown(control_plane: ControlPlane, namespace: str) -> None:
    (found,) = await differences(control_plane, web("web", namespace), live=(web("web", namespace, {"replicas": 3}),))
    assert [(dotted(change.path), change.old, change.new) for change in found.step.changes] == [("spec.replicas", 3, 1)]
    assert found.merged is not None and found.merged["spec"]["replicas"] == 1


@pytest.mark.cluster
async def test_an_empty_value_that_goes_away_differs(control_plane: ControlPlane, namespace: str) -> None:
    live = web("web", namespace, securityContext={"privileged": False})
    (found,) = await differences(control_plane, web("web", namespace, securityContext={}), live=(live,))
    assert found.merged is not None and "securityContext" not in found.merged["spec"]["template"]["spec"]["containers"][0]


@pytest.mark.cluster
@pytest.mark.parametrize("ask_server", [False, True])
async def test_taking_over_from_client_side_apply_takes_out_what_is_no_longer_wanted_and_nothing_else(
    control_plane: ControlPlane, namespace: str, ask_server: bool
) -> None:
    applied = json.dumps(web("web", namespace, env=[{"name": "A", "value": "1"}]))
    control_plane.kubectl("apply", "-n", namespace, "-f", "-", input=applied)
    (found,) = await differences(control_plane, web("web", namespace), ask_server=ask_server)
    assert [dotted(change.path) for change in found.step.changes] == [
        'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]',
        "spec.template.spec.containers[name=c].env",
    ]


@pytest.mark.cluster
async def test_what_cannot_be_changed_is_held_when_it_is_taken_out_on_the_way(control_plane: ControlPlane, namespace: str) -> None:
    job = manifest(
        "j", "Job", namespace, spec={"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}
    )
    other = json.loads(json.dumps(job))
    other["spec"]["template"]["spec"]["activeDeadlineSeconds"] = 5
    control_plane.kubectl("apply", "-n", namespace, "-f", "-", input=json.dumps(other))
    (found,) = await differences(control_plane, job)
    assert found.step.action is Action.HELD


@pytest.mark.cluster
async def test_an_object_that_breaks_its_schema_fails_alone(control_plane: ControlPlane, namespace: str) -> None:
    wanted = (manifest("good", namespace=namespace, data={"x": "1"}), manifest("bad", namespace=namespace, data={"x": 1}))
    found = await differences(control_plane, *wanted)
    assert [(one.step.ref.name, one.step.action) for one in found] == [("good", Action.CREATED), ("bad", Action.FAILED)]
    assert found[1].step.reason == "the server would reject it: failed to create typed patch object: .data.x: expected string"


@pytest.mark.cluster
async def test_a_secret_that_breaks_its_schema_fails_without_its_values(control_plane: ControlPlane, namespace: str) -> None:
    (found,) = await differences(control_plane, manifest("s", "Secret", namespace, data={"x": ["hunter2"]}))
    assert (found.step.action, found.step.reason) == (Action.FAILED, "the server would reject it: data.x: expected string")


def test_a_patch_makes_one_object_the_other_and_leaves_what_the_server_keeps() -> None:
    before = {"metadata": {"name": "a", "uid": "u", "labels": {"a": "b"}, "managedFields": []}, "spec": {"x": 1}, "data": {}, "status": 1}
    after = {"metadata": {"name": "a", "finalizers": ["x/y"]}, "spec": {"x": 2}, "type": "t"}
    assert patch_to(before, after) == [
        {"op": "add", "path": "/spec", "value": {"x": 2}},
        {"op": "remove", "path": "/data"},
        {"op": "add", "path": "/type", "value": "t"},
        {"op": "remove", "path": "/metadata/labels"},
        {"op": "add", "path": "/metadata/finalizers", "value": ["x/y"]},
    ]
