"""How the program ends: readers that have gone, full disks, closed streams, interrupts, and mistakes of our own."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
import termios
import time

import pytest

from grove_cli import entry

from .processes import EXAMPLE, SET, Grove, environment

INTERRUPTED = """
import os, signal, sys
from grove_cli import entry

class Interrupting:
    class buffer:
        def read(size):
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # or a test run in the background would ignore it
sys.stdin = Interrupting
entry.main()
"""
"""The program, with a standard input that somebody interrupts."""


def test_a_reader_that_has_gone_is_no_error_to_speak_of(grove: Grove) -> None:
    big = grove.file("a.yaml", SET.replace("replicas: 1\n  template", "replicas: 500\n  template"))
    command = f"{sys.executable} -m grove_cli compile {big} | head -1; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], cwd=grove.folder, env=environment(), capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_pipeline_that_is_stopped_and_continued_loses_nothing(grove: Grove, unbuffered: str) -> None:
    command = [sys.executable, "-m", "grove_cli", "crds"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(PYTHONUNBUFFERED=unbuffered)) as program:
        assert program.stdout is not None
        while waiting(program.stdout.fileno()) < PIPE_CAPACITY:
            time.sleep(0.01)
        for number in (signal.SIGSTOP, signal.SIGCONT):  # as Ctrl-Z and fg: the write ends early, with what the pipe has taken
            program.send_signal(number)
        assert program.stdout.read().decode() == grove("crds").out
    assert program.returncode == 0


PIPE_CAPACITY = 65536
"""What a pipe of Linux holds, in bytes."""


def waiting(descriptor: int) -> int:
    """How many bytes a pipe has for its reader."""
    return int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a full disk at hand")
def test_a_full_disk_is_said(grove: Grove) -> None:
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "grove_cli", "compile", EXAMPLE]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment(), check=False)
    assert (ended.returncode, ended.stderr) == (2, b"grove: output: no space left on device\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a full disk at hand")
@pytest.mark.parametrize("arguments", [["compile", "none.yaml"], ["compile", "--nope"]])
def test_the_exit_code_tells_when_even_standard_error_is_full(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([sys.executable, "-m", "grove_cli", *arguments], stderr=full, env=environment(), check=False)
    assert ended.returncode == 2


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_reason_to_crash(grove: Grove, closed: str) -> None:
    command = f"{sys.executable} -m grove_cli compile {EXAMPLE} {closed}"
    ended = subprocess.run(["bash", "-c", command], env=environment(), capture_output=True, check=False)
    assert ended.returncode == (2 if closed.startswith(">") else 0)
    assert b"Traceback" not in ended.stderr


def test_an_interrupt_ends_it_without_a_word(grove: Grove) -> None:
    command = [sys.executable, "-c", INTERRUPTED, "compile", "-"]
    ended = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"")


def test_an_error_of_our_own_is_one_line_and_where_to_report_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> int:
        raise KeyError("surprise\nin two lines")

    monkeypatch.setattr(entry, "_invoke", broken)
    assert entry.run([]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"grove: internal error: KeyError: 'surprise.+ \(cli/test_endings.py:\d+\)", first)
    assert entry.ISSUES in second


@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyboardInterrupt(), 130), (BrokenPipeError(), 141), (MemoryError(), 2), (RecursionError("too deep"), 2), (OSError(5, "I/O"), 2)],
    ids=lambda value: type(value).__name__,
)
def test_whatever_is_raised_has_an_exit_code(monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int) -> None:
    def broken(*_: object) -> int:
        raise error

    monkeypatch.setattr(entry, "_invoke", broken)
    monkeypatch.setattr(entry, "_silence_stdout", lambda: None)
    assert entry.run([]) == code


def test_those_who_ask_see_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise KeyError("surprise")

    monkeypatch.setattr(entry, "_invoke", broken)
    monkeypatch.setenv("GROVE_TRACEBACK", "1")
    with pytest.raises(KeyError):
        entry.run([])
