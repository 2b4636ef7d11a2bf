"""The command lines of the servers, and the files that they read."""

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

SERVED = ("resource.k8s.io/v1beta1=true", "resource.k8s.io/v1beta2=true", "scheduling.k8s.io/v1alpha1=true")
"""API versions that are served beyond the default ones."""


FEWER_COLLECTIONS = {"GOGC": "400"}
"""For Go's garbage collector: a server of tests lives for minutes. A fifth less CPU under load, for 200 MB more in kube-apiserver."""


@dataclass(slots=True)
class Server:
    """A server under its guard, whose command line is `guard`; it runs once it is started, and can be started again when it has ended."""

    name: str
    log: Path
    guard: Sequence[str] = field(repr=False)
    process: subprocess.Popen[bytes] = field(init=False, repr=False)

    def start(self) -> None:
        """Starts it."""
        with self.log.with_name("guards.log").open("ab") as output:
            self.process = subprocess.Popen(
                self.guard, stdin=subprocess.PIPE, stdout=output, stderr=output, env=FEWER_COLLECTIONS | os.environ, start_new_session=True
            )

    def pause(self) -> None:
        """Lets it stand still: whoever asks it waits, and nobody is told that it does not answer."""
        self.process.send_signal(signal.SIGUSR1)

    def resume(self) -> None:
        """Lets it go on after `pause`."""
        self.process.send_signal(signal.SIGUSR2)

    @property
    def ended(self) -> bool:
        """Whether it has exited, by itself or because it was stopped."""
        return self.process.poll() is not None

    def stop(self) -> None:
        """Ends the server at once and waits for it: nothing that it holds is needed again."""
        if self.process.stdin:
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def launch(name: str, command: Sequence[str], logs: Path, rubbish: Path | str = "") -> Server:
    """Starts a server under a guard that ends it, and removes `rubbish`, when this process is gone."""
    log = logs / f"{name}.log"
    guard = [sys.executable, "-I", "-S", str(Path(__file__).with_name("guard.py")), str(log), str(rubbish), *command]
    server = Server(name, log, guard)
    server.start()
    return server


def free_ports(count: int) -> list[int]:
    """Returns loopback ports that nobody listens on.

    Another process may take one before it is used: whoever starts servers tries again then.
    """
    with ExitStack() as sockets:
        bound = [sockets.enter_context(socket.socket()) for _ in range(count)]
        for one in bound:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in bound]


def etcd(assets: Assets, data: Path, port: int, peer_port: int) -> list[str]:
    """Runs etcd, fast rather than safe: its data dies with it."""
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
    """Runs kube-apiserver, with a certificate that it makes itself; the certificate's key signs service account tokens, too."""
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
        f"--service-account-issuer={ISSUER}",
        f"--service-account-signing-key-file={key}",
        f"--service-account-key-file={key}",
        "--disable-admission-plugins=ServiceAccount,PodSecurity",
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.0.0.0/16",
        f"--runtime-config={','.join(SERVED)}",
        "--feature-gates=GenericWorkload=true",
    ]
    if audit:
        log = folder / "data" / "audit.log"
        command += [f"--audit-policy-file={folder / 'audit-policy.json'}", f"--audit-log-path={log}", "--audit-log-maxsize=100000"]
    return command


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
    ]


def scheduler(assets: Assets, kubeconfig: Path) -> list[str]:
    """Runs kube-scheduler, which puts pods on the nodes that there are."""
    return [assets.path("kube-scheduler"), f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0"]


def kwok(assets: Assets, kubeconfig: Path) -> list[str]:
    """Runs kwok: every node is ready at once, every pod on a node runs at once."""
    stages = assets.folder / "kwok-stages.yaml"
    return [
        assets.path("kwok"),
        f"--kubeconfig={kubeconfig}",
        f"--config={stages}",
        "--manage-all-nodes",
        "--node-lease-duration-seconds=40",
    ]


def reason(log: Path) -> str:
    """Returns why a server ended, in its own words: the last line of its log that tells of an error."""
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
