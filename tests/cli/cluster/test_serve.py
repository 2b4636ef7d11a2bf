"""`grove serve`: how it begins, and what keeps it from that."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from grove_cli.extras import install_command
from tests.cli.running import ROOT, run

SNAPSHOT = str(ROOT / "docs" / "snapshots" / "no-room.yaml")


def test_it_says_where_it_serves_and_ends_with_an_interrupt() -> None:
    command = [sys.executable, "-m", "grove_cli", "serve", "--snapshot", SNAPSHOT, "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.fullmatch(r"grove: serving at (http://127\.0\.0\.1:\d+/) until interrupted\n", said)
        assert found, said
        with urllib.request.urlopen(found[1]) as answer:
            assert "<title>chat · grove graph</title>" in answer.read().decode()
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(60) == 130
        finally:
            process.kill()  # or the test would wait for ever for one that does not end
        assert process.stderr.read() == ""


def test_an_address_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run("serve", "--snapshot", SNAPSHOT, "--port", str(port))
    assert ended.code == 2
    assert ended.err.startswith(f"grove: cannot listen on 127.0.0.1:{port}: ")


def test_an_address_that_is_none_is_told() -> None:
    ended = run("serve", "--snapshot", SNAPSHOT, "--bind", "256.1.1.1", "--port", "0")
    assert (ended.code, ended.out) == (2, "")
    assert "cannot listen on 256.1.1.1:0" in ended.err


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("a: [")
    ended = run("serve", "--snapshot", str(tmp_path / "bad.yaml"))
    assert ended.code == 2
    assert "bad.yaml" in ended.err


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grove_cli.serve.server", None)
    ended = run("serve", "--snapshot", SNAPSHOT, "--port", "0")
    assert ended.code == 2
    assert install_command("cluster", "observe") in ended.err
