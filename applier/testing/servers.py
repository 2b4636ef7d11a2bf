"""Runs the servers of the control plane: their command lines, and the files that they read."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from applier.testing.assets import Assets

ISSUER = "https://kubernetes.default.svc"

SERVED = {"resource.k8s.io/v1beta1": 32, "resource.k8s.io/v1beta2": 33, "scheduling.k8s.io/v1alpha1": 35}
"""API versions that are served in addition to the default ones, with the minor version of Kubernetes that first knows them."""

LEFT_ALONE = "kwok.x-k8s.io/status=custom"
"""The annotation of nodes and pods whose status kwok leaves to a test, as its documentation has it."""

FEWER_COLLECTIONS = {"GOGC": "400"}
"""Settings of Go's garbage collector, for servers that live for minutes: a fifth less CPU under load for 200 MB more in kube-apiserver."""


@dataclass(slots=True)
class Server:
    """Represents a server under its guard process, with the command line `guard`. It can be restarted after it has ended."""

    name: str
    log: Path
    guard: Sequence[str] = field(repr=False)
    process: subprocess.Popen[bytes] = field(init=False, repr=False)

    def start(self) -> None:
        """Starts the server."""
        with self.log.with_name("guards.log").open("ab") as output:
            self.process = subprocess.Popen(
                self.guard, stdin=subprocess.PIPE, stdout=output, stderr=output, env=FEWER_COLLECTIONS | os.environ, start_new_session=True
            )

    def pause(self) -> None:
        """Suspends the server: requests hang, and connections stay open."""
        self.process.send_signal(signal.SIGUSR1)

    def resume(self) -> None:
        """Resumes the server after `pause`."""
        self.process.send_signal(signal.SIGUSR2)

    @property
    def ended(self) -> bool:
        """Reports whether the server has exited, by itself or because it was stopped."""
        return self.process.poll() is not None

    def stop(self) -> None:
        """Kills the server and waits for its end; its data is not needed again."""
        if self.process.stdin:
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def launch(name: str, command: Sequence[str], logs: Path, rubbish: Path | str = "") -> Server:
    """Starts a server under a guard, which ends it and removes `rubbish` when this process is gone."""
    log = logs / f"{name}.log"
    guard = [sys.executable, "-I", "-S", str(Path(__file__).with_name("guard.py")), str(log), str(rubbish), *command]
    server = Server(name, log, guard)
    server.start()
    return server


def free_ports(count: int) -> list[int]:
    """Returns free loopback ports.

    Another process may bind one before it is used, so callers have to retry.
    """
    with ExitStack() as sockets:
        bound = [sockets.enter_context(socket.socket()) for _ in range(count)]
        for one in bound:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in bound]


def etcd(assets: Assets, data: Path, port: int, peer_port: int) -> list[str]:
    """Runs etcd, without syncing to disk: its data is not needed after it has ended."""
    peer = f"http://127.0.0.1:{peer_port}"
    return [
        assets.path("etcd"),
        f"--data-dir={data}",
        "--unsafe-no-fsync",
        "--log-level=warn",
        f"--listen-client-urls=http://127.0.0.1:{port}",
        f"--advertise-client-urls=http://127.0.0.1:{port}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
    ]


def api_server(assets: Assets, folder: Path, port: int, etcd_port: int, *, audit: bool) -> list[str]:
    """Runs kube-apiserver with a self-signed certificate, whose key also signs service account tokens."""
    key = folder / "certificates" / "apiserver.key"
    command = [
        assets.path("kube-apiserver"),
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        f"--cert-dir={key.parent}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",  # as in every cluster that runs a network or a device plugin
        f"--service-account-issuer={ISSUER}",
        f"--service-account-signing-key-file={key}",
        f"--service-account-key-file={key}",
        "--disable-admission-plugins=ServiceAccount",
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.0.0.0/16",
        f"--runtime-config={','.join(f'{version}=true' for version, minor in SERVED.items() if minor <= assets.kube_minor)}",
        *feature_gates(assets, serves=True),
    ]
    if audit:
        log = folder / "data" / "audit.log"
        command += [f"--audit-policy-file={folder / 'audit-policy.json'}", f"--audit-log-path={log}", "--audit-log-maxsize=100000"]
    return command


def feature_gates(assets: Assets, *, serves: bool = False) -> list[str]:
    """Returns the flag for what is off in this version: dynamic resource allocation before 1.34, and workloads, if it `serves` them."""
    minor = assets.kube_minor
    gates = [*(["DynamicResourceAllocation=true"] if minor < 34 else []), *(["GenericWorkload=true"] if serves and minor > 34 else [])]
    return [f"--feature-gates={','.join(gates)}"] if gates else []


def controller_manager(assets: Assets, folder: Path, kubeconfig: Path) -> list[str]:
    """Runs kube-controller-manager: namespaces, garbage, workloads, tokens, nodes."""
    return [
        assets.path("kube-controller-manager"),
        f"--kubeconfig={kubeconfig}",
        f"--service-account-private-key-file={folder / 'certificates' / 'apiserver.key'}",
        f"--root-ca-file={folder / 'certificates' / 'apiserver.crt'}",
        "--use-service-account-credentials=false",
        "--leader-elect=false",
        "--secure-port=0",
        *feature_gates(assets),
    ]


def scheduler(assets: Assets, kubeconfig: Path) -> list[str]:
    """Runs kube-scheduler."""
    return [assets.path("kube-scheduler"), f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0", *feature_gates(assets)]


def kwok(assets: Assets, kubeconfig: Path) -> list[str]:
    """Runs kwok, which makes nodes ready and pods on nodes run at once, but for those that it is to leave alone.

    A lease that somebody else holds would not do: kwok heeds it only where it happens to start with its stages for nodes, and now and
    then those for pods come first.
    """
    stages = assets.folder / "kwok-stages.yaml"
    return [
        assets.path("kwok"),
        f"--kubeconfig={kubeconfig}",
        f"--config={stages}",
        "--manage-all-nodes",
        f"--disregard-status-with-annotation-selector={LEFT_ALONE}",
        "--node-lease-duration-seconds=40",
    ]


def reason(log: Path) -> str:
    """Returns the last error in a server's log, which is why it ended."""
    text = log.read_text("utf-8", errors="replace") if log.exists() else ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    complaints = [line for line in lines if _complains(line)]
    chosen = (complaints or lines or ["its log is empty"])[-1]
    return _plain(chosen)


def _complains(line: str) -> bool:
    klog = line[:1] in "EF" and line[1:5].isdigit()
    return klog or line.startswith(("Error:", "error:", "panic:", "fatal error:")) or '"level":"fatal"' in line or '"level":"error"' in line


def _plain(line: str) -> str:
    if line.startswith("{"):
        try:
            entry = json.loads(line)
        except ValueError:
            return line
        return ": ".join(str(entry[key]) for key in ("msg", "error") if entry.get(key))
    head, mark, rest = line.partition("] ")
    return rest if mark and head[:1] in "EFWI" else line
