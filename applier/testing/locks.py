"""Locks on files: the kernel lets go of them when their holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class FileLock:
    """An exclusive lock on a file, held by this process until released. The file stays."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def try_acquire(self) -> bool:
        """Whether the lock is ours now."""
        return self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB)

    def acquire(self) -> None:
        """Waits until the lock is ours."""
        self._lock(fcntl.LOCK_EX)

    def acquire_within(self, seconds: float) -> bool:
        """Whether the lock became ours in this time."""
        deadline = time.monotonic() + seconds
        while not self.try_acquire():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def release(self) -> None:
        """Lets go; no harm where it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _lock(self, how: int) -> bool:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, how)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True


@contextmanager
def held(path: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Holds the lock of a path for a block; `on_wait` is called when another process has it."""
    lock = FileLock(path)
    if not lock.try_acquire():
        on_wait()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
