"""Shows that something which takes long goes on: on a terminal one line that is rewritten, elsewhere a line every ten seconds.

As a script it runs a command, and shows what that says last: `python applier/testing/progress.py "what is done" COMMAND…`. If the command
fails, all that it has said is printed, and its exit code is passed on. It runs before anything is installed, and needs nothing that is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from subprocess import PIPE, STDOUT
from typing import Self

EVERY_ON_A_TERMINAL, EVERY = 0.2, 10.0


class Progress:
    """One line on standard error: what is done, for how long, and `last`, which may be set at any time."""

    def __init__(self, what: str) -> None:
        self.what, self.last, self._began = what, "", time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._repeat, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        if self._is_terminal:
            self._write("\r\033[K")

    @property
    def seconds(self) -> float:
        """Returns for how long it has gone on."""
        return time.monotonic() - self._began

    def _repeat(self) -> None:
        while not self._over.wait(EVERY_ON_A_TERMINAL if self._is_terminal else EVERY):
            text = f"{self.what}, {self.seconds:.0f} s: {self.last}"
            if self._is_terminal:
                self._write(f"\r\033[K{text[: shutil.get_terminal_size().columns - 1]}")
            else:
                self._write(f"{text}\n")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def main(what: str = "", *command: str) -> int:
    """Runs the command; returns its exit code."""
    if not command or shutil.which(command[0]) is None:
        sys.stderr.write(f"{what}: program {command[0]} not found\n" if command else f"{(__doc__ or '').splitlines()[2]}\n")
        return 127 if command else 2
    said = list[str]()
    with Progress(what) as line, subprocess.Popen(command, stdout=PIPE, stderr=STDOUT, text=True, errors="replace") as process:
        for text in process.stdout or ():
            said.append(text)
            line.last = text.strip() or line.last
    if process.returncode:
        sys.stderr.write("".join(said))
    sys.stderr.write(f"{what}: {f'exit code {process.returncode}' if process.returncode else 'done'} after {line.seconds:.0f} s\n")
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
