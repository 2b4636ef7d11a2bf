"""What takes long says so: on a terminal in one line, elsewhere now and then."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from applier.testing import progress

SCRIPT = [sys.executable, progress.__file__]


def test_a_command_that_fails_is_told_with_all_that_it_said() -> None:
    done = subprocess.run([*SCRIPT, "trying", "sh", "-c", "echo one; echo two >&2; exit 3"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "one\ntwo\ntrying: exit code 3 after 0 s\n")


def test_of_a_command_that_succeeds_there_is_one_line() -> None:
    done = subprocess.run([*SCRIPT, "trying", "echo", "one"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "trying: done after 0 s\n")


def test_on_a_terminal_the_last_line_of_the_command_is_shown_while_it_runs(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    release = tmp_path / "release"
    command = [*SCRIPT, "trying", "sh", "-c", f"echo one; until test -e {release}; do sleep 0.05; done"]
    with subprocess.Popen(command, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while b"trying, 0 s: one" not in seen and b"trying, 1 s: one" not in seen:
            seen += os.read(ours, 1000)
        release.touch()
        process.wait()
    os.close(ours)
