"""A cluster into which Helm installs our chart, and the operator run by hand as its pods would: with their account and their file.

No kubelet runs there: kwok says of pods that they run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from applier.testing.control_plane import ControlPlane
from tests.controller.live.account import NAMESPACE
from tests.controller.live.conftest import NODES, node
from tests.invariants.plane import STRICT, judged_plane

PATIENCE = 120.0
"""Seconds. On an idle machine nothing here takes longer than five."""
QUIET = ("--set", "config.server.healthProbes.port=0", "--set", "config.server.metrics.port=0")
"""Tests run beside others: the ports of the operator that they run by hand may be in use."""
WITHOUT_WEBHOOKS = ("--set", "webhooks.enabled=false")
"""No API server reaches a Service here, so that sets would be refused for want of an answer."""

Manifest = dict[str, Any]


class Cluster:
    """What a person does there, and sees."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.plane, self.folder = plane, folder

    def kubectl(self, *arguments: str, input: str | None = None) -> str:
        return self.plane.kubectl(*arguments, input=input).stdout

    def apply(self, *manifests: Manifest) -> None:
        self.plane.objects.apply(manifests)

    def get(self, *arguments: str) -> Any:
        """Objects as kubectl prints them, None where there is none."""
        return self.plane.objects.get(*arguments)

    def items(self, *arguments: str) -> list[Manifest]:
        return list(self.get(*arguments)["items"])

    def pods(self, namespace: str) -> dict[str, str]:
        """The UIDs of the pods that are ready, by the name of their host."""
        return {one["spec"].get("hostname", ""): one["metadata"]["uid"] for one in self.items("pods", "-n", namespace) if _is_ready(one)}

    def until(self, look: Callable[[], Any], wanted: Any) -> None:
        """Returns once a look shows what is wanted; fails with what it shows instead."""
        deadline, pause = time.monotonic() + PATIENCE, 0.1
        while (seen := look()) != wanted:
            assert time.monotonic() < deadline, f"wanted {wanted!r}, and there is still {seen!r}; {self.log()}"
            time.sleep(pause)
            pause = min(pause * 1.3, 1.0)  # on a busy machine each look takes from it what it waits for

    def log(self) -> str:
        """The last lines of the operator's log."""
        log = self.folder / "operator.log"
        return log.read_text()[-3000:] if log.exists() else ""

    def kubeconfig(self) -> Path:
        """That of the operator's pods: their account's token, and their namespace."""
        config = json.loads(self.plane.kubeconfig.read_text())
        token = self.kubectl("create", "token", "grove-operator", "-n", NAMESPACE, "--duration", "1h").strip()
        for user in config["users"]:
            user["user"] = {"token": token}
        for context in config["contexts"]:
            context["context"]["namespace"] = NAMESPACE
        path = self.folder / "operator.kubeconfig"
        path.write_text(json.dumps(config))
        return path

    def configuration(self) -> Path:
        """What is mounted into the operator's pods."""
        path = self.folder / "config.yaml"
        path.write_text(self.get("configmap", "grove-operator", "-n", NAMESPACE)["data"]["config.yaml"])
        return path

    def rules(self) -> Path:
        """What is mounted where nobody has made the ConfigMap with rules: a folder without files."""
        path = self.folder / "no-rules"
        path.mkdir(exist_ok=True)
        return path

    @contextmanager
    def operator(self, *options: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
        """Runs the operator until the block ends, and lets it end in good order."""
        with self.process("run", *options, **environment) as process:
            yield process

    @contextmanager
    def process(self, subcommand: str, *options: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
        """Runs what is in the operator's image until the block ends, and lets it end in good order."""
        command = [sys.executable, "-m", "grove_cli", "operator", subcommand, "--kubeconfig", str(self.kubeconfig())]
        command += ["--config", str(self.configuration()), "--rules", str(self.rules()), *options]
        with (self.folder / "operator.log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | environment)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)


@contextmanager
def cluster_without_definitions(folder: Path) -> Iterator[Cluster]:
    """One with nodes and nothing of ours."""
    folder.mkdir(parents=True, exist_ok=True)
    with judged_plane(api_server_flags=STRICT) as plane:
        there = Cluster(plane, folder)
        there.apply(*map(node, range(NODES)))
        yield there


def _is_ready(pod: Manifest) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return not pod["metadata"].get("deletionTimestamp") and any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
