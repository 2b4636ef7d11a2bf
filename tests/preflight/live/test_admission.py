"""`grove preflight controller` behind a real API server: pods come out with checks, gangs find one another, and a webhook that is away."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from applier.ref import Kind
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError
from applier.transport import connect
from grove_compiler.graph.node import Manifest
from tests.applier.transport.certificates import authority, needs_openssl, signed
from tests.cli.conftest import cache_of_the_session
from tests.cli.running import ROOT

pytestmark = [pytest.mark.cluster, needs_openssl]

__all__ = ["cache_of_the_session"]

VALUES: Manifest = {
    "checks": [{"name": "dcgm-diag", "image": "d"}, {"name": "nccl-allreduce", "image": "a"}],
    "gangDiscovery": {"method": "labels"},
}
LABELS = {"app.kubernetes.io/gang-id": "g1", "app.kubernetes.io/gang-size": "2"}
PATIENCE = 90.0


class Admission(NamedTuple):
    """The controller as a program, the server that asks it, and the namespace that it looks after."""

    process: subprocess.Popen[str]
    plane: ControlPlane
    namespace: str
    configure: Callable[[str], None]
    metrics_port: int

    def metrics(self) -> str:
        """What Prometheus is told."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=60) as answer:
            return str(answer.read().decode())

    def create(self, name: str, *flags: str, owner: str = "Pod") -> str:
        return self.kubectl("-n", self.namespace, "create", "-f", "-", *flags, input=json.dumps(workload(name, owner)))

    def kubectl(self, *arguments: str, input: str = "") -> str:
        return self.plane.kubectl(*arguments, input=input).stdout

    def get(self, what: str) -> Any:
        return json.loads(self.kubectl("-n", self.namespace, "get", *what.split(), "-o", "json", "--ignore-not-found") or "null")

    def give_address(self, pod: str, address: str) -> None:
        patch = json.dumps({"status": {"phase": "Pending", "podIP": address, "podIPs": [{"ip": address}]}})
        self.kubectl("-n", self.namespace, "patch", "pod", pod, "--subresource=status", "--type=merge", "-p", patch)

    def peers(self) -> list[str]:
        """Those of the one gang that there is."""
        found = [one for one in self.get("configmaps")["items"] if one["metadata"]["name"].startswith("preflight-")]
        return found[0]["data"]["peers"].split() if found else []

    async def create_gang(self, names: list[str]) -> None:
        """Makes the pods of a gang, all at once, and gives each an address."""
        labels = {"app.kubernetes.io/gang-id": "g64", "app.kubernetes.io/gang-size": str(len(names))}
        async with connect(kubeconfig=str(self.plane.kubeconfig)) as cluster:
            pods, atonce = await cluster.resource(Kind("", "v1", "Pod")), asyncio.Semaphore(8)

            async def create(number: int, name: str) -> None:
                pod = workload(name)
                metadata = {"name": name, "namespace": self.namespace, "labels": labels}
                address = f"10.0.2.{number}"
                body = {"status": {"phase": "Pending", "podIP": address, "podIPs": [{"ip": address}]}}
                async with atonce:
                    await cluster.create(pods, {**pod, "metadata": metadata}, manager="tests")
                    await cluster.patch(pods, self.namespace, name, body, subresource="status")

            await asyncio.gather(*(create(number, name) for number, name in enumerate(names)))


def workload(name: str, owner: str = "Pod") -> Manifest:
    """A pod with GPUs in a gang, or what makes such pods."""
    devices = {"limits": {"nvidia.com/gpu": 8, "nvidia.com/mlnxnics": 4}}
    spec: Manifest = {"containers": [{"name": "main", "image": "m", "resources": devices}]}
    if owner == "Pod":
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": LABELS}, "spec": spec}
    template = {"metadata": {"labels": LABELS | {"app": name}}, "spec": spec}
    body: Manifest = {"template": template}
    if owner == "Job":
        spec["restartPolicy"] = "Never"
    else:
        body |= {"selector": {"matchLabels": {"app": name}}} | {"replicas": 1}
    if owner == "StatefulSet":
        body["serviceName"] = name
    return {"apiVersion": "batch/v1" if owner == "Job" else "apps/v1", "kind": owner, "metadata": {"name": name}, "spec": body}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.3)


@pytest.fixture
def admission(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Admission]:
    ca, served = authority(tmp_path), tmp_path / "served"
    served.mkdir()
    pair = signed(ca, "webhook")
    (served / "tls.crt").write_text(pair.certificate.read_text())
    (served / "tls.key").write_text(pair.key.read_text())
    values = tmp_path / "values.yaml"
    values.write_text(json.dumps(VALUES | {"namespaces": [namespace]}))
    command = [sys.executable, "-m", "grove_operator", "preflight", "controller", "--port", "0", "--cert-dir", str(served)]
    metrics = free_port()
    arguments = [*command, "--values", str(values), "--metrics-port", str(metrics), "--kubeconfig", str(control_plane.kubeconfig)]
    process = subprocess.Popen(arguments, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    assert process.stderr is not None
    try:
        assert process.stderr.readline() == f"metrics on port {metrics}\n"
        port = re.search(r"listening on port (\d+)", process.stderr.readline())
        assert port is not None
        assert process.stderr.readline() == "ready\n"
        bundle = base64.b64encode(ca.certificate.read_bytes()).decode()

        def configure(policy: str) -> None:
            hooks = configuration(f"https://127.0.0.1:{port[1]}/mutate-pod", bundle, namespace, policy)
            control_plane.kubectl("apply", "-f", "-", input=json.dumps(hooks))

        configure("Fail")
        wait_for(
            lambda: bool(control_plane.kubectl("-n", namespace, "get", "serviceaccount", "default", "--ignore-not-found")), "no account"
        )
        there = Admission(process, control_plane, namespace, configure, metrics)
        # An API server follows its configurations with some delay.
        wait_for(lambda: "preflight-" in there.create("probe", "--dry-run=server", "-o", "json"), "the webhook was never asked")
        yield there
    finally:
        control_plane.kubectl("delete", "mutatingwebhookconfiguration", f"preflight-{namespace}", "--ignore-not-found")
        process.terminate()
        process.wait(60)


def configuration(url: str, bundle: str, namespace: str, policy: str) -> Manifest:
    webhook = {
        "name": "preflight.nvsentinel.nvidia.com",
        "clientConfig": {"url": url, "caBundle": bundle},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": policy,
    }
    metadata = {"name": f"preflight-{namespace}"}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": metadata,
        "webhooks": [webhook],
    }


def test_a_dry_run_shows_the_checks_and_makes_nothing(admission: Admission) -> None:
    shown = json.loads(admission.create("pod-0", "--dry-run=server", "-o", "json"))
    assert [one["name"] for one in shown["spec"]["initContainers"]] == ["preflight-dcgm-diag", "preflight-nccl-allreduce"]
    assert admission.get("configmap preflight-g1") is None


@pytest.mark.parametrize("owner", ["Deployment", "StatefulSet", "Job", "ReplicaSet"])
def test_pods_of_every_kind_of_owner_get_checks(admission: Admission, owner: str) -> None:
    admission.create("made", owner=owner)
    wait_for(lambda: bool(admission.get("pods")["items"]), f"the {owner} made no pod")
    names = [one["name"] for one in admission.get("pods")["items"][0]["spec"]["initContainers"]]
    assert names == ["preflight-dcgm-diag", "preflight-nccl-allreduce"]


def test_a_gang_forms_is_repaired_and_goes(admission: Admission) -> None:
    for number in range(2):
        admission.create(f"pod-{number}")
        admission.give_address(f"pod-{number}", f"10.0.1.{number}")
    wait_for(lambda: admission.peers() == ["pod-0:10.0.1.0", "pod-1:10.0.1.1"], "the gang did not form")
    assert admission.get("configmap preflight-g1")["data"]["expected_count"] == "2"

    admission.kubectl("-n", admission.namespace, "delete", "configmap", "preflight-g1")
    wait_for(lambda: len(admission.peers()) == 2, "a ConfigMap that was deleted by hand did not come back")

    admission.kubectl("-n", admission.namespace, "delete", "pod", "pod-1", "--force", "--grace-period=0")
    admission.create("pod-2")
    admission.give_address("pod-2", "10.0.1.2")
    wait_for(lambda: admission.peers() == ["pod-0:10.0.1.0", "pod-2:10.0.1.2"], "a pod that was replaced is still a peer")

    admission.kubectl("-n", admission.namespace, "delete", "pod", "pod-0", "pod-2", "--force", "--grace-period=0")
    wait_for(lambda: admission.get("configmap preflight-g1") is None, "the ConfigMap outlived the last pod")


def test_64_pods_form_one_gang(admission: Admission) -> None:
    names = [f"pod-{number:02}" for number in range(64)]
    asyncio.run(admission.create_gang(names))
    wait_for(lambda: len(admission.peers()) == 64, "the gang did not form")
    assert admission.peers() == [f"{name}:10.0.2.{number}" for number, name in enumerate(names)]
    data = admission.get("configmap preflight-g64")["data"]
    assert (data["expected_count"], data["master_addr"]) == ("64", "10.0.2.0")


def test_people_are_told_of_a_check_that_failed(admission: Admission) -> None:
    admission.create("pod-0")
    ended = {"exitCode": 1, "containerID": "c://1", "message": "# 5 GB/s, less than 10\n", "reason": "Error"}
    status = {"name": "preflight-nccl-allreduce", "image": "a", "imageID": "", "ready": False, "restartCount": 0}
    patch = {"status": {"initContainerStatuses": [{**status, "state": {"terminated": ended}}]}}
    admission.kubectl("-n", admission.namespace, "patch", "pod", "pod-0", "--subresource=status", "--type=merge", "-p", json.dumps(patch))

    def told() -> list[str]:
        events = admission.get("events --field-selector reason=PreflightCheckFailed")["items"]
        return [one["message"] for one in events]

    wait_for(lambda: told() != [], "nobody was told")
    assert 'preflight_check_failures_total{check="nccl-allreduce",error_code="EXIT_1",node=""} 1.0' in admission.metrics()
    assert 'preflight_injection_total{result="injected"}' in admission.metrics()
    assert told() == ["Check nccl-allreduce failed on node unknown (EXIT_1): 5 GB/s, less than 10"]


@pytest.mark.parametrize(("policy", "is_made"), [("Fail", False), ("Ignore", True)])
def test_without_the_webhook_pods_are_made_as_its_policy_says(admission: Admission, policy: str, is_made: bool) -> None:
    admission.configure(policy)
    admission.process.terminate()
    admission.process.wait(60)

    def made() -> bool:
        try:
            admission.create("pod-0", "--dry-run=server")
        except ControlPlaneError as error:
            assert "preflight.nvsentinel.nvidia.com" in str(error)
            return False
        return True

    wait_for(lambda: made() is is_made, f"{policy} was not followed")
