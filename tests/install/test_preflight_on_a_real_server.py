"""The preflight injector on a real API server, with the rights that the installation gives it and no others."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError
from grove_operator.install.manifests import manifests
from grove_operator.install.user_values import load_values
from tests.cli.running import ROOT
from tests.invariants.plane import STRICT
from tests.preflight.test_gang_config import pod

pytestmark = pytest.mark.cluster("kube-controller-manager")
NAMESPACE, ACCOUNT = "grove-system", "preflight-injector"
PATIENCE = 120.0
FAILED = {
    "name": "preflight-nccl-allreduce",
    "image": "a",
    "imageID": "",
    "ready": False,
    "restartCount": 0,
    "state": {"terminated": {"exitCode": 1, "containerID": "c://1"}},
}

Manifest = dict[str, Any]


class Installed:
    """A cluster with the injector's objects, and the injector run by hand as its pods would: with their account and their file."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.plane, self.folder = plane, folder
        self.log = folder / "injector.log"

    def apply(self, *made: Manifest) -> None:
        self.plane.objects.apply(made)

    def get(self, *arguments: str) -> Any:
        return self.plane.objects.get(*arguments)

    def until(self, look: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not look():
            assert time.monotonic() < deadline, self.log.read_text()[-3000:]
            time.sleep(0.3)

    def kubeconfig(self) -> Path:
        """That of the injector's pods."""
        config = json.loads(self.plane.kubeconfig.read_text())
        token = self.plane.kubectl("create", "token", ACCOUNT, "-n", NAMESPACE, "--duration", "1h").stdout.strip()
        for user in config["users"]:
            user["user"] = {"token": token}
        for context in config["contexts"]:
            context["context"]["namespace"] = NAMESPACE
        path = self.folder / "injector.kubeconfig"
        path.write_text(json.dumps(config))
        return path

    def may_write(self, name: str) -> bool:
        """Whether the injector's account may make a ConfigMap of a name."""
        made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "training"}}
        account = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
        try:
            self.plane.kubectl("create", "--dry-run=server", "-f", "-", "--as", account, input=json.dumps(made))
        except ControlPlaneError as error:
            assert "names begin with preflight-" in str(error)
            return False
        return True


@pytest.fixture(scope="module")
def preflight_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    values = [
        "crds.enabled=false",
        "preflight-injector.enabled=true",
        "preflight-injector.checks=[{name: nccl-allreduce, image: a}]",
    ]
    with ControlPlane.start(parts=("kube-controller-manager",), api_server_flags=STRICT) as plane:
        there = Installed(plane, tmp_path_factory.mktemp("preflight"))
        for name in (NAMESPACE, "training"):
            there.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        for one in manifests(load_values([], values), NAMESPACE):
            if one["metadata"]["name"].startswith("preflight-injector") and one["kind"] != "Deployment":
                for hook in one.get("webhooks") or ():  # no API server reaches a Service here
                    hook["objectSelector"] = {"matchLabels": {"example.com/asked": "never"}}
                there.apply(one)
        there.until(lambda: there.get("serviceaccount", "default", "-n", "training"))
        yield there


@pytest.fixture
def cluster(preflight_plane: Installed) -> Installed:
    return preflight_plane


@pytest.fixture
def injector(cluster: Installed) -> Iterator[subprocess.Popen[bytes]]:
    values = cluster.folder / "values.yaml"
    values.write_text(cluster.get("configmap", ACCOUNT, "-n", NAMESPACE)["data"]["values.yaml"])
    ports = ["--port", "0", "--cert-secret", "preflight-injector-cert"]
    command = [sys.executable, "-m", "grove_cli", "preflight", "controller", *ports, "--values", str(values)]
    with cluster.log.open("ab") as log:
        process = subprocess.Popen([*command, "--kubeconfig", str(cluster.kubeconfig())], cwd=ROOT, stderr=log)
    try:
        cluster.until(lambda: re.search("^ready$", cluster.log.read_text(), re.MULTILINE))
        yield process
    finally:
        process.terminate()
        process.wait(60)


@pytest.mark.usefixtures("injector")
def test_its_rights_are_enough(cluster: Installed) -> None:
    (hook,) = cluster.get("mutatingwebhookconfiguration", ACCOUNT)["webhooks"]
    assert hook["clientConfig"]["caBundle"]
    for number in range(2):
        name = f"pod-{number}"
        made = pod(name)
        cluster.apply({**made, "metadata": {key: made["metadata"][key] for key in ("name", "namespace", "labels")}, "spec": runnable(made)})
        addresses = {"podIP": f"10.0.1.{number}", "podIPs": [{"ip": f"10.0.1.{number}"}]}
        patch = {"status": {"phase": "Pending", "initContainerStatuses": [FAILED], **addresses}}
        cluster.plane.kubectl("-n", "training", "patch", "pod", name, "--subresource=status", "--type=merge", "-p", json.dumps(patch))
    cluster.until(lambda: peers(cluster) == ["pod-0:10.0.1.0", "pod-1:10.0.1.1"])
    cluster.until(lambda: len(cluster.get("events", "-n", "training", "--field-selector", "reason=PreflightCheckFailed")["items"]) == 2)
    assert "forbidden" not in cluster.log.read_text()


def test_it_may_write_no_other_config_map(cluster: Installed) -> None:
    cluster.until(lambda: not cluster.may_write("settings"))  # a policy counts some moments after it was made
    assert cluster.may_write("preflight-gang")


def runnable(made: Manifest) -> Manifest:
    """The pod's spec with images, which a server insists on; the reference to a Workload needs a feature that is off."""
    spec = {key: value for key, value in made["spec"].items() if key != "workloadRef"}
    return {**spec, "containers": [{**one, "image": "m"} for one in spec["containers"]]}


def peers(cluster: Installed) -> list[str]:
    found = cluster.get("configmap", "preflight-myworkload-group1", "-n", "training")
    return found["data"]["peers"].split() if found else []
