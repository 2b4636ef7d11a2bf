"""A development cluster on this machine: it starts once, outlives what happens to it, and leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grove_cli.dev.folder import Folder

from ..processes import environment
from ..running import ROOT, Ended, run

pytestmark = pytest.mark.cluster("kube-controller-manager", "kube-scheduler", "kwok")
SMALL = ("--nodes", "2", "--gpus", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    """The folder of a cluster, which is ended after the test."""
    here = Folder(tmp_path / "dev")
    yield here
    dev(here, "down")


def dev(folder: Folder, *arguments: str) -> Ended:
    """Runs `grove dev`, which takes ten seconds on a machine that has nothing else to do."""
    command = [sys.executable, "-m", "grove_cli", "dev", *arguments, "--folder", str(folder.path)]
    done = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=200)
    return Ended(done.returncode, done.stdout, done.stderr)


def processes(folder: Folder) -> list[int]:
    """Those whose command lines name the folder."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if f"{folder.path}" in line and "ps -ww" not in line]


def test_it_runs_until_it_is_told_to_end(folder: Folder) -> None:
    first = dev(folder, "up", *SMALL)
    assert (first.code, first.out.splitlines()[0]) == (0, f"export KUBECONFIG={folder.kubeconfig}"), first.err
    assert "a cluster is running: Kubernetes " in first.err
    kept_by = folder.kept_by()
    again = dev(folder, "up", *SMALL)
    assert (again.code, again.out, folder.kept_by()) == (0, first.out, kept_by)
    assert "a cluster is already running: " in again.err

    nodes = kubectl(folder, "get", "nodes", "-o", "name")
    assert nodes.split() == ["node/node-0", "node/node-1"]
    assert kubectl(folder, "get", "clustertopologies", "-o", "name") == "clustertopology.grove.io/grove-topology\n"
    assert run("get", "sets", "--kubeconfig", str(folder.kubeconfig)) == (0, "", "No resources found in default namespace.\n")

    applied = run("apply", str(ROOT / "examples" / "minimal.yaml"), "--kubeconfig", str(folder.kubeconfig))
    assert applied[:2] == (0, "podcliqueset.grove.io/minimal created\n")
    assert "the operator (Deployment grove-system/grove-operator) generates from this: 7 created" in applied.err

    assert kept_by in processes(folder)
    assert dev(folder, "down") == (0, "the cluster is removed\n", "")
    assert (processes(folder), folder.path.exists()) == ([], False)


def test_after_its_keeper_was_killed_another_one_starts(folder: Folder) -> None:
    up = ("up", *SMALL, "--no-operator")
    assert dev(folder, *up).code == 0
    kept_by = folder.kept_by()
    assert kept_by is not None
    before = folder.kubeconfig.read_text()
    os.kill(kept_by, signal.SIGKILL)
    ended = wait_until(lambda: folder.kept_by() is None)
    assert (ended, dev(folder, "status").code) == (True, 1)
    again = dev(folder, *up)
    assert (again.code, "a cluster is running: " in again.err) == (0, True), again.err
    assert folder.kubeconfig.read_text() != before
    assert kubectl(folder, "get", "nodes", "-o", "name").split() == ["node/node-0", "node/node-1"]


def test_what_ends_by_itself_is_shown(folder: Folder) -> None:
    assert dev(folder, "up", *SMALL, "--no-operator").code == 0
    [guard] = [process for process in processes(folder) if "kwok.log" in command_line(process)]
    os.kill(guard, signal.SIGTERM)
    assert wait_until(lambda: bool((state := folder.ready()) and state.ended == ("kwok",)))
    ended = dev(folder, "status")
    assert (ended.code, "\nstopped since then: kwok; " in ended.out) == (1, True)


def test_an_interrupt_while_it_starts_ends_what_was_started(folder: Folder) -> None:
    command = [sys.executable, "-m", "grove_cli", "dev", "up", "--folder", str(folder.path)]
    process = subprocess.Popen(command, env=environment(PYTHONFAULTHANDLER="1"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert wait_until(lambda: folder.output.exists() and "starting etcd" in folder.output.read_text())
    process.send_signal(signal.SIGINT)
    try:
        said = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # for its stacks
        raise AssertionError(f"it has not ended:\n{process.communicate()}\n{folder.output.read_text()}") from None
    assert (process.returncode, processes(folder)) == (130, []), said


def wait_until(holds: Callable[[], bool]) -> bool:
    """Whether something holds within a minute."""
    deadline = time.monotonic() + 60
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def kubectl(folder: Folder, *arguments: str) -> str:
    place = environment(KUBECONFIG=str(folder.kubeconfig), KUBECACHEDIR=str(folder.path.parent / "cache"), KUBERC="off")
    done = subprocess.run([folder.bin / "kubectl", *arguments], env=place, capture_output=True, text=True, check=True)
    return done.stdout


def command_line(process: int) -> str:
    return subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(process)], capture_output=True, text=True, check=False).stdout
