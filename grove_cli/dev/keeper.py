"""Keeps a development cluster: starts it, and holds it until it is told to end. Run by `grove dev up` as a process of its own.

The servers run under guards (`applier.testing.guard`), which end them when this process is gone, even if it was killed. Each line of the
output is a step; the last one is the error where the exit code is not 0.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from applier.testing import servers
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError
from applier.testing.plane import CONTROLLER_MANAGER, KWOK, SCHEDULER
from grove_cli.dev import contents
from grove_cli.dev.folder import DevCluster, Folder
from grove_compiler.api.crd import crds

OPERATOR = "operator"
CONTEXT = "grove-dev"
PATIENCE = 180.0
"""Seconds for the operator to make its first object, on a machine that is busy."""


def main(folder: str, nodes: str, gpus: str, operator: str) -> int:
    """Keeps the cluster of a folder; returns 0 after SIGTERM, 1 where it did not start."""
    here = Folder(Path(folder))
    told = list[int]()

    def end(number: int, _: object) -> None:
        told.append(number)
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    if not here.keep():
        _say("another process runs this cluster")
        return 1
    os.environ.setdefault("GOGC", "100")  # it may run for days: less memory counts for more than less work
    try:
        _say("starting etcd, API server, controller manager, scheduler and kwok")
        with ControlPlane.start(parts=(CONTROLLER_MANAGER, SCHEDULER, KWOK), folder=here.cluster, audit=False) as plane:
            _keep(plane, here, int(nodes), int(gpus), told, with_operator=operator == OPERATOR)
    except ControlPlaneError as error:
        _say(" ".join(str(error).split()))
        return 1
    return 0


def _keep(plane: ControlPlane, here: Folder, nodes: int, gpus: int, told: Sequence[int], *, with_operator: bool) -> None:
    try:
        _fill(plane, here, nodes, gpus, with_operator=with_operator)
    except ControlPlaneError:
        plane.stop(keep_logs=True)
        raise
    _hold(plane, here, DevCluster(nodes, gpus, with_operator, _version(plane)), told)


def _fill(plane: ControlPlane, here: Folder, nodes: int, gpus: int, *, with_operator: bool) -> None:
    _say("applying the definitions of PodCliqueSets")
    definitions = crds()
    plane.objects.apply(definitions)
    plane.objects.await_served([one["metadata"]["name"] for one in definitions])
    _say(f"making {nodes} nodes")
    plane.objects.apply([contents.node(number, gpus) for number in range(nodes)])
    here.configuration.write_text(json.dumps(contents.configuration(), indent=2) + "\n", "utf-8")
    _write_kubeconfig(plane, here)
    if with_operator:
        _say("starting the operator")
        plane.objects.apply(contents.operator())
        _start_operator(plane, here)


def _start_operator(plane: ControlPlane, here: Folder) -> None:
    """Returns once it works, as the topology shows that it makes first. Raises `ControlPlaneError`, with its last words, if it ends."""
    options = ["--kubeconfig", str(here.kubeconfig), "--config", str(here.configuration)]
    process = servers.launch(OPERATOR, [sys.executable, "-m", "grove_cli", "operator", "run", *options], here.logs)
    plane.running.insert(0, process)  # ends first, while the server still answers
    deadline = time.monotonic() + PATIENCE
    while plane.objects.get("clustertopologies.grove.io", contents.TOPOLOGY) is None:
        if process.ended or time.monotonic() > deadline:
            what = "has ended" if process.ended else "does nothing"
            raise ControlPlaneError(f"the operator {what}: {servers.reason(process.log)} (log: {process.log})")
        time.sleep(0.05)


def _hold(plane: ControlPlane, here: Folder, state: DevCluster, told: Sequence[int]) -> None:
    """Publishes that the cluster is ready, and each process that ends by itself, until SIGTERM comes.

    It has come where it is among the signals `told`: what a handler raises in a callback, as of an import, or in a `__del__`, is lost.
    """
    signals = {signal.SIGCHLD, signal.SIGTERM}
    signal.signal(signal.SIGCHLD, lambda *_: None)  # what nobody handles might not wait for `sigwait`
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    while not told:
        here.publish(state._replace(ended=tuple(server.name for server in plane.running if server.ended)))
        if signal.sigwait(signals) == signal.SIGTERM:
            return


def _write_kubeconfig(plane: ControlPlane, here: Folder) -> None:
    """Writes the administrator's, with names by which people know the cluster among others, and kubectl for whoever has none."""
    cluster = {"server": plane.url, "certificate-authority": str(plane.certificate_authority)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "users": [{"name": CONTEXT, "user": {"token": plane.token}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT, "namespace": "default"}}],
    }
    here.kubeconfig.touch(mode=0o600)
    here.kubeconfig.write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    here.bin.mkdir(exist_ok=True)
    (here.bin / "kubectl").symlink_to(plane.programs.path("kubectl"))


def _version(plane: ControlPlane) -> str:
    return str(plane.request("GET", "/version")["gitVersion"]).removeprefix("v")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
