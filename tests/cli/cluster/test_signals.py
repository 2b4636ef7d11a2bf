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

from tests.suite.rows import rows

from .in_memory import MINIMAL

SETTINGS = "settings.yaml"
PLUGIN = "echo $$ > {pid}; exec sleep 600"
GROVE = [sys.executable, "-c", "from grove_cli import main; main()"]


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
    """Whether a process runs. One that has ended may be listed until somebody asks how: its parent has ended as well."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout.strip()
    return not state.startswith("Z") and bool(state)


def await_end(pid: int) -> None:
    """Returns once a process has ended. What was killed may take a moment on a busy machine; a plugin that was not would hang on."""
    deadline = time.monotonic() + 60
    while alive(pid):
        assert time.monotonic() < deadline, f"the process {pid} goes on"
        time.sleep(0.01)


COMMANDS = {
    "diff": ("diff", MINIMAL),
    "apply": ("apply", MINIMAL),
    "apply of what is no set": ("apply", SETTINGS),
    "apply to a set": ("apply", SETTINGS, "--applyset", "web"),
    "delete": ("delete", SETTINGS),
    "delete of a set": ("delete", "--applyset", "web"),
}


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@rows(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@rows("words", COMMANDS.values(), ids=COMMANDS)
def test_a_credential_plugin_that_hangs_ends_with_us(words: tuple[str, ...], number: signal.Signals, code: int, tmp_path: Path) -> None:
    (tmp_path / SETTINGS).write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n")
    command = [*GROVE, *words, "--kubeconfig", str(kubeconfig(tmp_path))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=tmp_path)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith("\n"):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    plugin = int((tmp_path / "pid").read_text())
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, b"", b"")
    await_end(plugin)
