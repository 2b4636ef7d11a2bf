"""Runs one server, and ends it when the process that started it is gone.

Started as a script of its own, with a pipe as standard input that the starter holds open. The pipe closes when the starter closes it,
exits, or is killed; the server is killed then, and a folder that nobody needs any more is removed. On Linux the server also dies with the
guard itself. SIGUSR1 lets it stand still, SIGUSR2 go on.

Arguments: the log file, a folder to remove (or nothing), and the server's command line.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from types import FrameType

PR_SET_PDEATHSIG = 1


def main(log: str, rubbish: str, *command: str) -> int:
    """Runs the server; returns its exit code."""
    with open(log, "ab", buffering=0) as output:
        die_with_us = _die_with(os.getpid())  # there is one thread so far
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=die_with_us)  # noqa: PLW1509

    def on_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        server.kill()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGUSR1, lambda *_: server.send_signal(signal.SIGSTOP))
    signal.signal(signal.SIGUSR2, lambda *_: server.send_signal(signal.SIGCONT))
    ending = threading.Event()
    watcher = threading.Thread(target=_end_with_starter, args=(server, rubbish, ending), daemon=True)
    watcher.start()
    code = server.wait()
    if ending.is_set():
        watcher.join()
    return code if code >= 0 else 128 - code


def _end_with_starter(server: subprocess.Popen[bytes], rubbish: str, ending: threading.Event) -> None:
    while os.read(0, 1024):
        pass
    ending.set()
    server.kill()
    server.wait()
    if rubbish:
        shutil.rmtree(rubbish, ignore_errors=True)


def _die_with(guard: int) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    library = ctypes.CDLL(None)

    def in_the_child() -> None:
        library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(1)

    return in_the_child


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
