"""Keeps some forked processes running at a time, hears what they tell, and says how they ended."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.mutation.mutant import ERROR, FOUND, NEVER_ENDS, SPENT

BROKEN = 70
"""The exit code of a process in which not a test failed, but what runs it."""


class Ended(NamedTuple):
    """How a process ended: what that means for a mutant if it has told nothing else, in words, and its seconds of CPU."""

    outcome: str
    words: str
    seconds: float


@dataclass(eq=False)
class _Process:
    number: int
    out: int
    folder: Path
    heard: Callable[[dict[str, Any]], None]
    ended: Callable[[Ended], None]
    until: float
    is_late: bool = False
    rest: bytes = b""


class Processes:
    """At most `count` processes. Each is told of to `heard`, with every line that it writes, and at last to `ended`."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._selector = selectors.DefaultSelector()
        self._running = list[_Process]()

    def start(
        self,
        number: int,
        out: int,
        folder: Path,
        heard: Callable[[dict[str, Any]], None],
        ended: Callable[[Ended], None],
        patience: float = float("inf"),
    ) -> None:
        """Takes over a process that was forked. It is killed after `patience` seconds on the clock."""
        process = _Process(number, out, folder, heard, ended, time.monotonic() + patience)
        self._running.append(process)
        self._selector.register(out, selectors.EVENT_READ, process)

    def wait_for_room(self) -> None:
        """Waits until another process may start."""
        while len(self._running) >= self._count:
            self._hear()

    def wait(self) -> None:
        """Waits until all have ended."""
        while self._running:
            self._hear()

    def kill(self) -> None:
        """Ends all by force. For the end of this process: it is not to be interrupted again."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        for process in self._running:
            _kill(process)
            os.waitpid(process.number, 0)
            shutil.rmtree(process.folder, ignore_errors=True)

    def _hear(self) -> None:
        for key, _ in self._selector.select(timeout=1.0):
            process: _Process = key.data
            if data := os.read(process.out, 1 << 16):
                *lines, process.rest = (process.rest + data).split(b"\n")
                for line in lines:
                    process.heard(json.loads(line))
            else:
                self._end(process)
        for process in self._running:
            if time.monotonic() > process.until and not process.is_late:
                process.is_late = True
                _kill(process)

    def _end(self, process: _Process) -> None:
        self._selector.unregister(process.out)
        os.close(process.out)
        _, status, usage = os.wait4(process.number, 0)
        _kill(process)  # whatever it has started
        shutil.rmtree(process.folder, ignore_errors=True)
        self._running.remove(process)
        process.ended(_ended(os.waitstatus_to_exitcode(status), process.is_late, usage.ru_utime + usage.ru_stime))


def _kill(process: _Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.number, signal.SIGKILL)


def _ended(code: int, is_late: bool, seconds: float) -> Ended:
    """Says what it means that a process has not told its outcome."""
    if is_late:
        return Ended(SPENT, "its time on the clock is over", seconds)
    if code == -signal.SIGPROF:
        return Ended(NEVER_ENDS, "it went on", seconds)
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return Ended(SPENT, "no CPU is left", seconds)
    if code == BROKEN:
        return Ended(ERROR, "the benchmark itself failed", seconds)
    return Ended(FOUND, f"the process ended with {code}", seconds)
