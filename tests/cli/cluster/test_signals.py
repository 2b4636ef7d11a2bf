"""What a signal ends, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from .in_memory import MINIMAL

PLUGIN = "echo $$ > {pid}; exec sleep 600"
GROVE = [sys.executable, "-c", "from grove_operator.cli import main; main()"]


def kubeconfig(folder: Path) -> Path:
    """One whose user has a plugin that hangs, and writes its process id to the file `pid`."""
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", PLUGIN.format(pid=folder / "pid")]}
    content = {
        "current-context": "one",
        "clusters": [{"name": "one", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "one", "user": {"exec": plugin}}],
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
    }
    (folder / "config").write_text(yaml.safe_dump(content))
    return folder / "config"


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_credential_plugin_that_hangs_ends_with_us(number: signal.Signals, code: int, tmp_path: Path) -> None:
    command = [*GROVE, "diff", MINIMAL, "--kubeconfig", str(kubeconfig(tmp_path))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith("\n"):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    plugin = int((tmp_path / "pid").read_text())
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (code, b"", b"")
    assert not alive(plugin)
