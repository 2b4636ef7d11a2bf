"""Nodes that run the containers of a simulation's pods as real processes, with the environment that a kubelet would give them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from applier.ref import Manifest
from tests.simulation.simulation import Simulation
from tests.simulation.world import NAMESPACE, SET

PATIENCE = 120.0
"""Seconds of a wall clock in which programs come to their end; a second or two, on a machine that does nothing else."""
REFERENCE = re.compile(r"\$\((\w+)\)")
LABEL = re.compile(r"metadata\.labels\['(.+)'\]")
NAMES = """
import os, socket

lookup, known = socket.getaddrinfo, os.environ["KNOWN_HOSTS"].split(",")

def local(host, *rest, **more):
    if host and host not in known:
        raise socket.gaierror(f"there is no {host}")
    return lookup("127.0.0.1" if host else host, *rest, **more)

socket.getaddrinfo = local
for name, value in os.environ.items():
    if value in known:
        os.environ[name] = "127.0.0.1"  # libraries in C, such as PyTorch's, ask no function of Python's
"""
"""The cluster's DNS: the records of the headless Services' pods, and of nobody else."""


class Nodes:
    """The processes of all pods that run, in the order in which they ended in `ended`. To be closed.

    `given` are variables that stand in for those of the pods: what a test has elsewhere than a node.
    """

    def __init__(self, simulation: Simulation, folder: Path, **given: str) -> None:
        self.simulation, self.given = simulation, given
        self._folder = folder
        (folder / "sitecustomize.py").write_text(NAMES)
        self._running: dict[str, tuple[Manifest, subprocess.Popen[str]]] = {}
        self.printed: list[str] = []

    def run(self, *, until: str, patience: float = PATIENCE) -> None:
        """Lets programs run, and the operator see what becomes of them, until its set has this phase."""
        deadline = time.monotonic() + patience
        while self._phase() != until:
            assert time.monotonic() < deadline, f"it is {self._phase()}, and printed {self.printed}"
            self.tick()

    def tick(self) -> None:
        """Starts programs of new pods, ends those of pods that go, and tells how others have ended.

        The simulation's time stands still while programs run: how fast they are is the machine's affair.
        """
        before = set(self._running)
        living = {pod["metadata"]["uid"]: pod for pod in self.simulation.world.pods()}
        for uid, pod in living.items():
            if pod.get("status", {}).get("phase") == "Running" and uid not in self._running:
                self._running[uid] = pod, self._start(pod)
        for uid in [uid for uid in self._running if uid not in living]:
            self._stop(uid)
        ended = [uid for uid, (_, process) in self._running.items() if process.poll() is not None]
        for uid in ended:
            pod, process = self._running.pop(uid)
            self.printed += process.communicate()[0].splitlines()
            self.simulation.machines.exit(living[uid], process.returncode)
        if ended or before != set(self._running):
            self.simulation.settle()
        elif self._running:
            time.sleep(0.02)
        else:
            self.simulation.wait(1.0)

    @property
    def count(self) -> int:
        """How many programs run."""
        return len(self._running)

    def close(self) -> None:
        for uid in list(self._running):
            self._stop(uid)

    def _phase(self) -> str:
        [job] = self.simulation.world.all(SET)
        return str(job.get("status", {}).get("phase"))

    def _start(self, pod: Manifest) -> subprocess.Popen[str]:
        [container] = pod["spec"]["containers"]
        given = environment(pod, container) | self.given
        words = [_expanded(word, given) for word in (*container["command"], *container.get("args", []))]
        known = [address(one) for one in self.simulation.world.pods()]
        own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(self._folder), "KNOWN_HOSTS": ",".join(known)}
        program = [sys.executable if words[0] == "python3" else words[0], *words[1:]]
        return subprocess.Popen(program, env=own | given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def _stop(self, uid: str) -> None:
        _, process = self._running.pop(uid)
        process.kill()
        self.printed += process.communicate()[0].splitlines()


def address(pod: Manifest) -> str:
    return f"{pod['spec']['hostname']}.{pod['spec']['subdomain']}.{NAMESPACE}.svc.cluster.local"


def environment(pod: Manifest, container: Manifest) -> dict[str, str]:
    """A container's variables; one may refer to those before it, and to the labels of its pod."""
    found: dict[str, str] = {}
    for one in container.get("env", []):
        found[one["name"]] = _expanded(one["value"], found) if "value" in one else _field(pod, one["valueFrom"])
    return found


def _field(pod: Manifest, source: Any) -> str:
    match = LABEL.fullmatch(source["fieldRef"]["fieldPath"])
    assert match is not None, f"no node of ours knows {source}"
    return str(pod["metadata"]["labels"][match[1]])


def _expanded(text: str, known: dict[str, str]) -> str:
    """The text with `$(NAME)` in it replaced; what nobody knows stays as it is."""
    return REFERENCE.sub(lambda match: known.get(match[1], match[0]), text)
