"""Caches files about one server on disk."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path


class Disk:
    """Caches files about one server. Without a folder, or with an unusable one, nothing is stored."""

    def __init__(self, folder: Path | None, server: str) -> None:
        self.folder = folder / hashlib.sha256(server.encode()).hexdigest()[:16] if folder else None

    def read(self, name: str, life: float = float("inf")) -> bytes | None:
        """Returns a file's content; None if there is none, or it is older than `life` seconds."""
        if self.folder is None:
            return None
        path = self.folder / name
        try:
            age = time.time() - path.stat().st_mtime
            return path.read_bytes() if age <= life else None
        except OSError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Writes a file atomically."""
        if self.folder is None:
            return
        temporary = self.folder / f".{name}.{os.getpid()}.{time.monotonic_ns()}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary.write_bytes(content)
            temporary.replace(self.folder / name)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def drop(self, name: str) -> None:
        """Deletes a file."""
        if self.folder is not None:
            with contextlib.suppress(OSError):
                (self.folder / name).unlink()
