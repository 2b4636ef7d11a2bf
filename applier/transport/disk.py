"""What outlives the process: files of one server in a folder that the caller names."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path


class Disk:
    """Files about one server. Without a folder nothing is kept, and a folder that cannot be used is like none."""

    def __init__(self, folder: Path | None, server: str) -> None:
        self.folder = folder / hashlib.sha256(server.encode()).hexdigest()[:16] if folder else None

    def read(self, name: str, life: float = float("inf")) -> bytes | None:
        """Reads a file's content; None when there is none, or it is older than `life` seconds."""
        if self.folder is None:
            return None
        path = self.folder / name
        try:
            age = time.time() - path.stat().st_mtime
            return path.read_bytes() if age <= life else None
        except OSError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Writes a file so that readers see the old one or the new one and nothing in between."""
        if self.folder is None:
            return
        beside = self.folder / f".{name}.{os.getpid()}.{time.monotonic_ns()}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            beside.write_bytes(content)
            beside.replace(self.folder / name)
        except OSError:
            with contextlib.suppress(OSError):
                beside.unlink()

    def drop(self, name: str) -> None:
        """Takes a file away."""
        if self.folder is not None:
            with contextlib.suppress(OSError):
                (self.folder / name).unlink()
