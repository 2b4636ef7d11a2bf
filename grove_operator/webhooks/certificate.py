"""Holds the certificate of the webhooks: read from two files, and again when they change."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable

CERTIFICATE, KEY = "tls.crt", "tls.key"
"""The keys of a Secret of the type kubernetes.io/tls, as a pod sees them."""
INTERVAL = 10.0
"""Seconds between two looks at the files. The kubelet takes up to a minute to show a changed Secret, so more often gains nothing."""


class NoCertificate(Exception):
    """Says what is wrong with the files. The text is one line for people."""


class Certificate:
    """A certificate chain and its key in a folder. Raises `NoCertificate` where they cannot be used."""

    def __init__(self, folder: str) -> None:
        self._files = [os.path.join(folder, name) for name in (CERTIFICATE, KEY)]
        self.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._loaded = self._state()
        self._load()

    async def keep_fresh(self, tell: Callable[[str], None], interval: float = INTERVAL) -> None:
        """Loads the files again whenever they change, until cancelled.

        New connections get the new certificate, and nobody's is cut. Files that cannot be used leave the old one, and are told.
        """
        while True:
            await asyncio.sleep(interval)
            if (state := self._state()) == self._loaded:
                continue
            self._loaded = state
            try:
                # Into a context of its own first: half of a pair that does not fit must not reach the one that is in use.
                ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(*self._files)
                self._load()
            except (NoCertificate, OSError) as error:
                tell(f"the changed certificate cannot be used, the former one stays: {error}")
            else:
                tell("the certificate was renewed")

    def _load(self) -> None:
        try:
            self.tls.load_cert_chain(*self._files)
        except ssl.SSLError as error:
            raise NoCertificate(f"{self._files[0]}: no certificate that belongs to the key beside it ({error.reason})") from None
        except OSError as error:
            raise NoCertificate(f"{' and '.join(self._files)} are needed: {(error.strerror or str(error)).lower()}") from None

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
