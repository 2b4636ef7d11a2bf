"""`grove preflight controller` behind a real API server, and what can be seen of it."""

from __future__ import annotations

import asyncio
import base64
import copy
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from applier.ref import Kind
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError
from applier.transport import connect
from grove_compiler.graph.node import Manifest
from tests.applier.transport.certificates import authority, signed
from tests.cli.running import ROOT
from tests.permitted import resources

from .workloads import workload

VALUES: Manifest = {
    "checks": [{"name": "dcgm-diag", "image": "d"}, {"name": "nccl-allreduce", "image": "a"}],
    "gangDiscovery": {"method": "labels"},
    "checkResources": resources(),
}
NAMES = ["preflight-dcgm-diag", "preflight-nccl-allreduce"]
PATIENCE = 180.0
"""Seconds. A CronJob takes a minute by itself, and the machine may be busy."""


class Admission:
    """The controller as a program, the server that asks it, and the namespaces that it looks after, of which `namespace` is seen."""

    def __init__(self, plane: ControlPlane, namespaces: Sequence[str], folder: Path) -> None:
        self.plane, self.namespaces, self.namespace, self.log = plane, list(namespaces), namespaces[0], folder / "controller.log"
        self._folder, self._port, self._metrics_port = folder, 0, free_port()
        # Checks mount the folder of the node with the connector's socket, which `restricted` forbids.
        plane.kubectl("label", "namespace", *self.namespaces, "pod-security.kubernetes.io/enforce=privileged", "--overwrite")
        ca, served = authority(folder), folder / "served"
        served.mkdir()
        pair = signed(ca, "webhook")
        (served / "tls.crt").write_text(pair.certificate.read_text())
        (served / "tls.key").write_text(pair.key.read_text())
        self._bundle = base64.b64encode(ca.certificate.read_bytes()).decode()
        (folder / "values.yaml").write_text(json.dumps(VALUES | {"namespaces": self.namespaces}))

    def start(self) -> None:
        """Starts it, at the port that it had before."""
        command = [sys.executable, "-m", "grove_cli", "preflight", "controller", "--port", str(self._port)]
        command += ["--cert-dir", str(self._folder / "served"), "--values", str(self._folder / "values.yaml")]
        command += ["--metrics-port", str(self._metrics_port), "--kubeconfig", str(self.plane.kubeconfig)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, stderr=log, env=os.environ | {"PYTHONUNBUFFERED": "1"})
        self.wait_for(lambda: "ready" in self.log.read_text().splitlines(), "the controller is not ready")
        port = re.search(r"^listening on port (\d+)$", self.log.read_text(), re.MULTILINE)
        assert port is not None
        self._port = int(port[1])

    def stop(self) -> None:
        """Ends it as the kubelet does."""
        self.process.terminate()
        self.process.wait(PATIENCE)

    def configure(self, policy: str) -> None:
        """Has the server ask it about the pods of its namespaces, or lets them pass as the policy says while it is away."""
        hooks = configuration(f"https://127.0.0.1:{self._port}/mutate-pod", self._bundle, self.namespaces, policy)
        self.plane.kubectl("apply", "-f", "-", input=json.dumps(hooks))

    def elsewhere(self, namespace: str) -> Admission:
        """The same controller, seen in another of its namespaces."""
        there = copy.copy(self)
        there.namespace = namespace
        return there

    def wait_for(self, holds: Callable[[], bool], what: str) -> None:
        """Returns once it holds; fails with what is amiss and what the controller tells."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline, f"{what}: {self.log.read_text()[-3000:]}"
            time.sleep(0.3)

    def metrics(self) -> str:
        """What Prometheus is told."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._metrics_port}/metrics", timeout=60) as answer:
            return str(answer.read().decode())

    def create(self, name: str, *flags: str, owner: str = "Pod") -> str:
        return self.make(workload(name, owner), *flags)

    def make(self, manifest: Manifest, *flags: str) -> str:
        return self.kubectl("create", "-f", "-", *flags, input=json.dumps(manifest))

    def would_create(self) -> bool:
        """Whether the server takes a pod now, which is not made."""
        try:
            self.create("probe", "--dry-run=server")
        except ControlPlaneError as error:
            assert "preflight.nvsentinel.nvidia.com" in str(error)
            return False
        return True

    def kubectl(self, *arguments: str, input: str = "") -> str:
        return self.plane.kubectl("-n", self.namespace, *arguments, input=input).stdout

    def get(self, what: str) -> Any:
        return self.plane.objects.get("-n", self.namespace, *what.split())

    def items(self, what: str) -> list[Any]:
        """Those of a list."""
        return list(self.get(what)["items"])

    def checks(self) -> list[list[str]]:
        """The init containers of each pod."""
        return [[one["name"] for one in pod["spec"].get("initContainers") or []] for pod in self.items("pods")]

    def end_check(self, pod: str, container: str, code: int, message: str) -> None:
        """What the kubelet reports of a check that has ended, with the time: who hears of pod and end at once only counts what is new."""
        finished = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        ended = {"finishedAt": finished, "exitCode": code, "containerID": "c://1", "message": message, "reason": "Error"}
        status = {"name": container, "image": "a", "imageID": "", "ready": False, "restartCount": 0, "state": {"terminated": ended}}
        patch = json.dumps({"status": {"initContainerStatuses": [status]}})
        self.kubectl("patch", "pod", pod, "--subresource=status", "--type=merge", "-p", patch)

    def status(self) -> tuple[int, str]:
        """What `grove preflight status` says, and its exit code."""
        command = [sys.executable, "-m", "grove_cli", "preflight", "status", "-n", self.namespace]
        command += ["--kubeconfig", str(self.plane.kubeconfig)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE)
        return done.returncode, done.stdout + done.stderr

    def give_address(self, pod: str, address: str) -> None:
        """What the kubelet does."""
        patch = json.dumps({"status": {"phase": "Pending", "podIP": address, "podIPs": [{"ip": address}]}})
        self.kubectl("patch", "pod", pod, "--subresource=status", "--type=merge", "-p", patch)

    def remove(self, *pods: str) -> None:
        self.kubectl("delete", "pod", *pods, "--force", "--grace-period=0")

    def peers(self) -> list[str]:
        """Those of the one gang that there is."""
        found = [one for one in self.items("configmaps") if one["metadata"]["name"].startswith("preflight-")]
        return found[0]["data"]["peers"].split() if found else []

    async def create_gang(self, names: list[str]) -> None:
        """Makes the pods of a gang, all at once, and gives each an address."""
        labels = {"app.kubernetes.io/gang-id": "g64", "app.kubernetes.io/gang-size": str(len(names))}
        async with connect(kubeconfig=str(self.plane.kubeconfig)) as cluster:
            pods, atonce = await cluster.resource(Kind("", "v1", "Pod")), asyncio.Semaphore(8)

            async def create(number: int, name: str) -> None:
                metadata = {"name": name, "namespace": self.namespace, "labels": labels}
                address = f"10.0.2.{number}"
                body = {"status": {"phase": "Pending", "podIP": address, "podIPs": [{"ip": address}]}}
                async with atonce:
                    await cluster.create(pods, {**workload(name), "metadata": metadata}, manager="tests")
                    await cluster.patch(pods, self.namespace, name, body, subresource="status")

            await asyncio.gather(*(create(number, name) for number, name in enumerate(names)))


@contextmanager
def admitting(plane: ControlPlane, namespaces: Sequence[str], folder: Path) -> Iterator[Admission]:
    """The controller at work, asked by the server."""
    there = Admission(plane, namespaces, folder)
    try:
        there.start()
        there.configure("Fail")
        there.wait_for(lambda: there.get("serviceaccount default") is not None, "no account")
        # An API server follows its configurations with some delay.
        there.wait_for(lambda: "preflight-" in there.create("probe", "--dry-run=server", "-o", "json"), "the webhook was never asked")
        yield there
    finally:
        plane.kubectl("delete", "mutatingwebhookconfiguration", f"preflight-{namespaces[0]}", "--ignore-not-found")
        there.stop()


def configuration(url: str, bundle: str, namespaces: Sequence[str], policy: str) -> Manifest:
    webhook = {
        "name": "preflight.nvsentinel.nvidia.com",
        "clientConfig": {"url": url, "caBundle": bundle},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": [*namespaces]}]},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": policy,
    }
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration"}
    return {**kind, "metadata": {"name": f"preflight-{namespaces[0]}"}, "webhooks": [webhook]}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
