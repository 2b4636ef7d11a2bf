"""Locks files; the kernel releases a lock when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(path: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Holds the exclusive lock of a path for a block; calls `on_wait` if another process has it. The file stays."""
    with path.open("ab") as file:  # no child inherits it (PEP 446): the lock ends with the block, or with this process
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
