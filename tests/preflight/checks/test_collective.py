"""A real collective: four processes on the CPU form a gang through its files and measure with gloo, as pods do with NCCL.

PyTorch's wheel for the CPU is 200 MB, which nothing else here needs; without it these tests are skipped and say so. To run them:
`pip install torch --index-url https://download.pytorch.org/whl/cpu`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from .connector import PlatformConnector

pytest.importorskip("torch", reason="PyTorch is not installed: 200 MB for these tests alone; see the head of this file")

ROOT = Path(__file__).resolve().parents[3]
PODS = tuple(f"pod-{number}" for number in range(4))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


class Gang:
    """Pods of one gang as processes, with one folder of files and one connector."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, str(free_port())
        self.pods: dict[str, subprocess.Popen[str]] = {}
        config = folder / "gang"
        config.mkdir(parents=True)
        (config / "expected_count").write_text(str(len(PODS)))
        (config / "master_addr").write_text("127.0.0.1")
        (config / "peers").write_text("".join(f"{pod}:127.0.0.1\n" for pod in PODS))

    def start(self, pod: str, **more: str) -> None:
        told = {
            "MY_POD_NAME": pod, "NODE_NAME": f"node-of-{pod}", "GANG_CONFIG_DIR": str(self.folder / "gang"), "MASTER_PORT": self.port,
            "DIST_BACKEND": "gloo", "NPROCS_PER_NODE": "1", "MESSAGE_SIZE": "1M", "BENCHMARK_ITERS": "3", "WARMUP_ITERS": "1",
            "NCCL_ALLREDUCE_THRESHOLD_GBPS": "0", "GANG_TIMEOUT": "120s", "CHECK_TIMEOUT": "120s", "GLOO_SOCKET_IFNAME": "lo",
            "PLATFORM_CONNECTOR_SOCKET": f"unix://{self.folder / 's'}", "OMP_NUM_THREADS": "1",
            "HEALTH_EVENT_SPOOL": str(self.folder / f"spool-{pod}"), "METRICS_FILE": str(self.folder / f"metrics-{pod}"), **more,
        }  # fmt: skip
        command = [sys.executable, "-m", "preflight_images.nccl_allreduce"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **told}
        self.pods[pod] = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)

    def results(self) -> dict[str, dict[str, Any]]:
        """The last line of each pod, once all have ended."""
        lines = {pod: process.communicate(timeout=600)[0].splitlines() for pod, process in self.pods.items()}
        return {pod: json.loads(found[-1]) for pod, found in lines.items() if found}


def test_four_pods_measure_and_each_reports(folder: Path) -> None:
    server, gang = PlatformConnector(), Gang(folder)
    with server.serving(folder / "s"):
        for pod in PODS:
            gang.start(pod)
        results = gang.results()
    assert {pod: one["result"] for pod, one in results.items()} == dict.fromkeys(PODS, "passed")
    assert all(one["bus_bandwidth_gbps"] > 0 for one in results.values())
    assert {event.nodeName for event in server.events if event.isHealthy} == {f"node-of-{pod}" for pod in PODS}


def test_a_gang_that_is_too_slow_is_told_by_every_pod(folder: Path) -> None:
    server, gang = PlatformConnector(), Gang(folder)
    with server.serving(folder / "s"):
        for pod in PODS:
            gang.start(pod, NCCL_ALLREDUCE_THRESHOLD_GBPS="100000")
        gang.results()
    assert [(list(event.errorCode), event.isFatal) for event in server.events] == [(["NCCL_BW_DEGRADED"], False)] * len(PODS)


def test_one_slow_pod_makes_the_gang_too_slow_which_every_pod_tells(folder: Path) -> None:
    """In a collective all wait for the slowest, so that nobody can tell which pod it is."""
    server, sound, slow = PlatformConnector(), Gang(folder), Gang(folder / "slow")
    measured = {"BENCHMARK_ITERS": "200", "MESSAGE_SIZE": "4M", "PLATFORM_CONNECTOR_SOCKET": f"unix://{folder / 's'}"}
    with server.serving(folder / "s"):
        for pod in PODS:
            sound.start(pod, **measured)
        usual = min(one["bus_bandwidth_gbps"] for one in sound.results().values())
        server.events.clear()
        for pod in PODS:
            slow.start(pod, **measured, NCCL_ALLREDUCE_THRESHOLD_GBPS=str(usual / 3))
        with held_up(slow.pods[PODS[2]].pid):
            slow.results()
    assert {event.nodeName: list(event.errorCode) for event in server.events} == {f"node-of-{pod}": ["NCCL_BW_DEGRADED"] for pod in PODS}


def test_a_pod_that_never_comes_is_a_timeout_and_no_fault_of_hardware(folder: Path) -> None:
    server, gang = PlatformConnector(), Gang(folder)
    (folder / "gang" / "peers").write_text("".join(f"{pod}:127.0.0.1\n" for pod in PODS[:3]))
    with server.serving(folder / "s"):
        for pod in PODS[:3]:
            gang.start(pod, GANG_TIMEOUT="3s")
        gang.results()
    assert [(list(event.errorCode), event.isFatal) for event in server.events] == [(["NCCL_GANG_TIMEOUT"], False)] * 3


def test_a_pod_that_dies_in_the_collective_is_missed_by_the_others(folder: Path) -> None:
    server, gang = PlatformConnector(), Gang(folder)
    with server.serving(folder / "s"):
        for pod in PODS:
            gang.start(pod, BENCHMARK_ITERS="10000", MESSAGE_SIZE="64M")
        wait_for_children(gang.pods[PODS[3]].pid)
        time.sleep(5)  # the collective lasts for minutes; where it has not begun yet the others miss the pod as well
        kill_tree(gang.pods.pop(PODS[3]).pid)
        results = gang.results()
    assert {pod: one["result"] for pod, one in results.items()} == dict.fromkeys(PODS[:3], "failed")
    assert {event.nodeName for event in server.events} == {f"node-of-{pod}" for pod in PODS[:3]}


@contextmanager
def held_up(pid: int) -> Iterator[None]:
    """Lets the ranks of a pod stand still nine tenths of the time."""
    ended = threading.Event()

    def hold() -> None:
        while not ended.wait(0.05):
            ranks = descendants(pid)[1:]  # not torchrun itself, which would miss its own timeouts
            send(signal.SIGSTOP, ranks)
            ended.wait(0.45)
            send(signal.SIGCONT, ranks)

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        yield
    finally:
        ended.set()
        holder.join()


def send(number: signal.Signals, pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def wait_for_children(pid: int) -> None:
    deadline = time.monotonic() + 120
    while len(descendants(pid)) < 2:
        assert time.monotonic() < deadline, "torchrun started no rank"
        time.sleep(0.2)


def descendants(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # it has ended
        return []
    return [found for child in map(int, children) for found in (child, *descendants(child))]


def kill_tree(pid: int) -> None:
    for one in (pid, *descendants(pid)):
        os.kill(one, signal.SIGKILL)
