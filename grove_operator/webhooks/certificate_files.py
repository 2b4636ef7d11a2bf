"""Shows the certificate of two files, as cert-manager or a mounted Secret keeps them, and again when they change."""

from __future__ import annotations

import asyncio
import os

from grove_operator.webhooks.certificate import NoCertificate, ShownCertificate, Tell

CERTIFICATE, KEY = "tls.crt", "tls.key"
"""The keys of a Secret of the type kubernetes.io/tls, as a pod sees them."""
INTERVAL = 10.0
"""Seconds between two looks at the files. The kubelet takes up to a minute to show a changed Secret, so more often gains nothing."""


class CertificateFiles:
    """A certificate chain and its key in a folder (a `Source`)."""

    def __init__(self, folder: str, shown: ShownCertificate, interval: float = INTERVAL) -> None:
        self._files = [os.path.join(folder, name) for name in (CERTIFICATE, KEY)]
        self._shown, self._interval = shown, interval
        self._loaded: list[tuple[int, int, int]] = []

    async def first(self) -> None:
        """Shows the files. Raises `NoCertificate` where they cannot be used."""
        self._loaded = self._state()
        self._shown.show_files(*self._files)

    async def keep_fresh(self, tell: Tell) -> None:
        """Loads the files again whenever they change, until cancelled. Files that are no good are told, and the old certificate stays."""
        while True:
            await asyncio.sleep(self._interval)
            if (state := self._state()) == self._loaded:
                continue
            self._loaded = state
            try:
                self._shown.show_files(*self._files)
            except NoCertificate as error:
                tell(f"the changed certificate cannot be used, the former one stays: {error}")
            else:
                tell("the certificate was renewed")

    def _state(self) -> list[tuple[int, int, int]]:
        """What tells the files from others of the same name; a Secret that is mounted is replaced as a whole."""
        found = []
        for file in self._files:
            try:
                status = os.stat(file)
            except OSError:
                found.append((0, 0, 0))
            else:
                found.append((status.st_ino, status.st_mtime_ns, status.st_size))
        return found
