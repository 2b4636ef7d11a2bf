"""The control plane that tests run against: who may do what on it, and what was asked of it."""

from __future__ import annotations

import json
import os
import ssl
import time
import urllib.request

import pytest

from applier.testing import assets
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError, RequestRefused
from tests.permitted import permitted

pytestmark = pytest.mark.cluster

APPLY = "application/apply-patch+yaml"
programs_of_ours = pytest.mark.skipif(bool(os.environ.get(assets.ENVTEST_VARIABLE)), reason="programs of others have versions of their own")


def config_map(namespace: str, name: str, **data: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


def path(namespace: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps" + (f"/{name}" if name else "")


@programs_of_ours
def test_the_server_has_the_pinned_version(control_plane: ControlPlane) -> None:
    assert control_plane.request("GET", "/version")["gitVersion"] == "v1.35.4"


@programs_of_ours
def test_kubectl_has_the_servers_version(control_plane: ControlPlane) -> None:
    versions = json.loads(control_plane.kubectl("version", "-o", "json").stdout)
    assert versions["clientVersion"]["gitVersion"] == versions["serverVersion"]["gitVersion"]


def test_the_certificate_can_be_checked_strictly(control_plane: ControlPlane) -> None:
    context = ssl.create_default_context(cafile=str(control_plane.certificate_authority))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    with urllib.request.urlopen(f"{control_plane.url}/readyz", context=context) as answer:
        assert answer.read() == b"ok"


SINCE = {
    "resource.k8s.io/v1beta1": "1.32",
    "resource.k8s.io/v1beta2": "1.33",
    "resource.k8s.io/v1": "1.34",
    "scheduling.k8s.io/v1alpha1": "1.35",
}


@pytest.mark.parametrize(
    "version", [pytest.param(version, marks=pytest.mark.served_since(since, version)) for version, since in SINCE.items()]
)
def test_what_gangs_and_claims_need_is_served(control_plane: ControlPlane, version: str) -> None:
    assert control_plane.request("GET", f"/apis/{version}")["groupVersion"] == version


def pods(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def test_an_object_is_applied_and_read_again(control_plane: ControlPlane, namespace: str) -> None:
    target = path(namespace, "a") + "?fieldManager=test"
    control_plane.request("PATCH", target, config_map(namespace, "a", key="value"), content_type=APPLY)
    assert control_plane.request("GET", path(namespace, "a"))["data"] == {"key": "value"}


def test_each_test_has_a_namespace_of_its_own(control_plane: ControlPlane, namespace: str) -> None:
    other = control_plane.create_namespace()
    assert other != namespace
    control_plane.delete_namespace(other)


@pytest.mark.cluster("kube-controller-manager")
def test_a_deleted_namespace_goes_away_with_all_that_is_in_it(control_plane: ControlPlane) -> None:
    name = control_plane.create_namespace()
    control_plane.request("POST", path(name), config_map(name, "a"))
    control_plane.delete_namespace(name)
    deadline = time.monotonic() + 60
    with pytest.raises(RequestRefused, match="not found"):
        while time.monotonic() < deadline:
            control_plane.request("GET", f"/api/v1/namespaces/{name}")
            time.sleep(0.1)


def test_of_a_namespace_that_is_cleared_the_pods_and_autoscalers_go(control_plane: ControlPlane) -> None:
    name = control_plane.create_namespace()
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [permitted({"name": "box", "image": "any"})]}}
    autoscaler = {
        "metadata": {"name": "a"},
        "spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}},
    }
    autoscalers = f"/apis/autoscaling/v2/namespaces/{name}/horizontalpodautoscalers"
    control_plane.request("POST", pods(name), pod)
    control_plane.request("POST", autoscalers, autoscaler)
    control_plane.request("POST", path(name), config_map(name, "a"))
    control_plane.clear_namespace(name)
    left = {kind: [one["metadata"]["name"] for one in control_plane.request("GET", kind)["items"]] for kind in (pods(name), autoscalers)}
    assert left == {pods(name): [], autoscalers: []}
    assert control_plane.request("GET", path(name, "a"))["metadata"]["name"] == "a"


def test_a_namespace_without_pods_that_is_cleared_stays_as_it_is(control_plane: ControlPlane) -> None:
    name = control_plane.create_namespace()
    before = control_plane.request("GET", f"/api/v1/namespaces/{name}")
    control_plane.clear_namespace(name)
    assert control_plane.request("GET", f"/api/v1/namespaces/{name}") == before


@pytest.mark.cluster("kube-controller-manager")
def test_a_namespace_that_is_cleared_goes_with_pods_that_kubernetes_would_create_again(control_plane: ControlPlane) -> None:
    name, labels = control_plane.create_namespace(), {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [permitted({"name": "web", "image": "any"})]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    control_plane.objects.apply([{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}], name)
    control_plane.kubectl("wait", "--for=create", "pod", "-l", "app=web", "-n", name, "--timeout=60s")
    control_plane.clear_namespace(name)
    assert "deletionTimestamp" in control_plane.request("GET", f"/api/v1/namespaces/{name}")["metadata"]


@pytest.mark.cluster("kube-controller-manager")
def test_what_an_owner_leaves_behind_is_collected(control_plane: ControlPlane, namespace: str) -> None:
    owner = control_plane.request("POST", path(namespace), config_map(namespace, "owner"))
    owned = config_map(namespace, "owned")
    owned["metadata"]["ownerReferences"] = [  # type: ignore[index]
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    ]
    control_plane.request("POST", path(namespace), owned)
    control_plane.request("DELETE", path(namespace, "owner"))
    control_plane.kubectl("wait", "--for=delete", "configmap/owned", "-n", namespace, "--timeout=60s")


@pytest.mark.cluster("kube-controller-manager", "kube-scheduler", "kwok")
def test_a_deployments_pods_run_on_a_node_of_kwok(control_plane: ControlPlane, namespace: str) -> None:
    status = {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}, "capacity": {"cpu": "8", "memory": "8Gi", "pods": "110"}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{namespace}"}, "status": status}
    control_plane.request("POST", "/api/v1/nodes", node)
    labels, pod = {"app": "web"}, {"containers": [permitted({"name": "web", "image": "any"})]}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    try:
        control_plane.objects.apply([{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}], namespace)
        control_plane.kubectl("wait", "--for=condition=Available", "deployment/web", "-n", namespace, "--timeout=60s")
    finally:
        control_plane.request("DELETE", f"/api/v1/nodes/node-{namespace}")


def test_a_viewer_reads_and_does_not_write(control_plane: ControlPlane, namespace: str) -> None:
    assert control_plane.request("GET", path(namespace), user="viewer")["kind"] == "ConfigMapList"
    with pytest.raises(RequestRefused, match='User "viewer" cannot create resource "configmaps"'):
        control_plane.request("POST", path(namespace), config_map(namespace, "a"), user="viewer")


def test_nobody_may_do_what_is_granted_and_nothing_else(control_plane: ControlPlane, namespace: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        control_plane.request("GET", path(namespace), user="nobody")
    assert refused.value.status == 403
    control_plane.grant("nobody", ["list"], ["configmaps"], namespace=namespace)
    control_plane.kubectl("get", "configmaps", "-n", namespace, user="nobody")
    with pytest.raises(ControlPlaneError, match="forbidden"):
        control_plane.kubectl("get", "secrets", "-n", namespace, user="nobody")


def test_requests_are_counted_from_a_mark_on(control_plane: ControlPlane, namespace: str) -> None:
    control_plane.request("GET", path(namespace), agent="before")
    mark = control_plane.mark()
    for name in "abc":
        control_plane.request("POST", path(namespace), config_map(namespace, name), agent="counted/1")
    control_plane.request("POST", path(namespace) + "?dryRun=All", config_map(namespace, "d"), agent="counted/1")
    with pytest.raises(RequestRefused):
        control_plane.request("GET", path(namespace, "a"), user="nobody", agent="counted/1")
    seen = control_plane.requests(mark).only(namespace=namespace)
    assert seen.by("verb", "resource", "user", "code") == {"create configmaps admin 201": 4, "get configmaps nobody 403": 1}
    assert len(seen.writes) == 3
    assert len(seen.only(agent="before")) == 0


def test_a_watch_is_counted_when_it_begins(control_plane: ControlPlane, namespace: str) -> None:
    mark = control_plane.mark()
    target = urllib.request.Request(
        f"{control_plane.url}{path(namespace)}?watch=true", headers={"Authorization": f"Bearer {control_plane.token}"}
    )
    with urllib.request.urlopen(target, context=control_plane.tls):
        assert control_plane.requests(mark).only(namespace=namespace).by("verb") == {"watch": 1}
    time.sleep(0.2)
    assert control_plane.requests(mark).only(namespace=namespace).by("verb") == {"watch": 1}


def test_nothing_asked_is_nothing_counted(control_plane: ControlPlane, namespace: str) -> None:
    mark = control_plane.mark()
    assert len(control_plane.requests(mark).only(namespace=namespace)) == 0
