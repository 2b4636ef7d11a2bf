"""Tells how far a build is: a counter on a terminal, one line a program anywhere else."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class Progress:
    """Writes to standard error, or to the stream that is given. Elapsed time is that of each step."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty()
        self.started = time.monotonic()
        self.step = ""

    def say(self, line: str) -> None:
        """One line of its own."""
        print(line, file=self.stream, flush=True)

    def begin(self, number: int, total: int, name: str) -> None:
        """A program's build begins."""
        self.step = f"  {number}/{total} {name:<24}"
        self.started = time.monotonic()
        self.tick()

    def tick(self) -> None:
        """Called about once a second while a step runs."""
        if self.live:
            self.stream.write(f"\r{self.step} {self._elapsed()} …")
            self.stream.flush()

    def end(self, outcome: str = "") -> None:
        """A program's build is over."""
        start, clear = ("\r", "\x1b[K") if self.live else ("", "")
        self.say(f"{start}{self.step} {outcome or self._elapsed()}{clear}")

    def _elapsed(self) -> str:
        minutes, seconds = divmod(round(time.monotonic() - self.started), 60)
        return f"{minutes} min {seconds:2d} s" if minutes else f"{seconds} s"
