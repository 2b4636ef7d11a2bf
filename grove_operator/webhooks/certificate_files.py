"""Provides the certificate of two files, as of cert-manager or a mounted Secret, and reloads it when they change."""

from __future__ import annotations

import asyncio
import os

from grove_operator.webhooks.certificate import Log, NoCertificate, ServedCertificate

CERTIFICATE, KEY = "tls.crt", "tls.key"
"""The file names of a mounted Secret of the type kubernetes.io/tls."""
INTERVAL = 10.0
"""Seconds between two checks of the files. The kubelet takes up to a minute to update them after a change of the Secret."""


class CertificateFiles:
    """A certificate chain and its key in a folder (a `CertificateSource`)."""

    def __init__(self, folder: str, shown: ServedCertificate, interval: float = INTERVAL) -> None:
        self._files = [os.path.join(folder, name) for name in (CERTIFICATE, KEY)]
        self._shown, self._interval = shown, interval
        self._loaded: list[tuple[int, int, int]] = []

    async def first(self) -> None:
        """Loads the files. Raises `NoCertificate` if they are invalid."""
        self._loaded = self._state()
        self._shown.show_files(*self._files)

    async def keep_fresh(self, log: Log) -> None:
        """Reloads the files whenever they change, until cancelled. Invalid files are logged, and the old certificate stays in use."""
        while True:
            await asyncio.sleep(self._interval)
            if (state := self._state()) == self._loaded:
                continue
            self._loaded = state
            try:
                self._shown.show_files(*self._files)
            except NoCertificate as error:
                log(f"the new certificate cannot be used; still using the old one: {error}")
            else:
                log("the certificate was renewed")

    def _state(self) -> list[tuple[int, int, int]]:
        """Returns inode, modification time and size of each file, by which a change is detected."""
        states = []
        for file in self._files:
            try:
                status = os.stat(file)
            except OSError:
                states.append((0, 0, 0))
            else:
                states.append((status.st_ino, status.st_mtime_ns, status.st_size))
        return states
