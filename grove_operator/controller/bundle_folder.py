"""Writes replay bundles into a folder of limited size, from which the oldest are deleted."""

from __future__ import annotations

import os
import re
from collections import deque
from pathlib import Path

from grove_compiler.kube.timestamp import timestamp
from grove_compiler.replay.bundle import RecordedStep, encode
from grove_operator.controller.recorder import Trigger

_NAME = re.compile(r"(step|failed|asked)-\d{8}T\d{6}Z-\d{6}-.*\.json")
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
MAX_NAME_LENGTH = 200
"""Characters of a key in the name of a file; most file systems allow 255 for the whole name."""


class BundleFolder:
    """Writes bundles into `path`, which the first one creates. Bundles of earlier processes count.

    Up to `most` bundles of each trigger are retained, so that those of failures, which people look for, are not displaced by others.
    """

    def __init__(self, path: str, most: int) -> None:
        self._path, self._most = Path(path), most
        self._number = 0
        self._names: dict[str, deque[str]] | None = None

    def write(self, taken: RecordedStep, trigger: Trigger) -> Path:
        """Writes a bundle and returns its file. Raises `OSError`."""
        names = self._existing().setdefault(trigger, deque())
        self._number = (self._number + 1) % 1_000_000
        stamp = re.sub("[-:]", "", timestamp(taken.now))
        path = self._path / f"{trigger}-{stamp}-{self._number:06}-{_UNSAFE.sub('_', str(taken.key))[:MAX_NAME_LENGTH].strip('_')}.json"
        unfinished = path.with_suffix(".tmp")
        # Only the user may read the file, as it has manifests that not everybody may read in the cluster.
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as stream:
            stream.write(encode(taken))
        unfinished.replace(path)
        names.append(path.name)
        while len(names) > self._most:
            (self._path / names.popleft()).unlink(missing_ok=True)
        return path

    def _existing(self) -> dict[str, deque[str]]:
        if self._names is None:
            self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._names = {}
            for name in sorted(os.listdir(self._path)):
                if name.endswith(".tmp") and _NAME.fullmatch(f"{name[:-4]}.json"):
                    (self._path / name).unlink(missing_ok=True)  # of a process that ended during the write
                if match := _NAME.fullmatch(name):
                    self._names.setdefault(match[1], deque()).append(name)
        return self._names
