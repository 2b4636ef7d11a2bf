"""Holds the certificate that connections are shown, and changes it while the server runs."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Callable
from typing import Any, Protocol

Tell = Callable[[str], None]


class NoCertificate(Exception):
    """Says why there is no certificate to be shown. The text is one line for people."""


class Source(Protocol):
    """Where a certificate comes from."""

    async def first(self) -> None:
        """Returns once a certificate is shown. Raises `NoCertificate`, and `ClusterError` where one is asked."""

    async def keep_fresh(self, tell: Tell) -> None:
        """Shows the newest one for ever, until cancelled. What keeps it from that is told."""


class ShownCertificate:
    """What a server shows. `tls` is what it listens with: new connections get the newest certificate, and nobody's is cut."""

    def __init__(self) -> None:
        self._newest: ssl.SSLContext | None = None
        self.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        # A context keeps a certificate for each kind of key: whoever loads one of another kind into it would show both, the old one first.
        self.tls.sni_callback = self._choose

    def show_files(self, certificate: str, key: str) -> None:
        """Shows a certificate and its key in two files. Raises `NoCertificate` where they cannot be used, and shows the old one then."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(certificate, key)
        except ssl.SSLError as error:
            raise NoCertificate(f"{certificate}: no certificate that belongs to the key beside it ({error.reason})") from None
        except OSError as error:
            raise NoCertificate(f"{certificate} and {key} are needed: {(error.strerror or str(error)).lower()}") from None
        self._newest = context

    def show(self, certificate: bytes, key: bytes) -> None:
        """Shows a certificate chain and its key, as PEM. Raises `NoCertificate` where they cannot be used."""
        descriptor, path = _private_file()
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                file.write(certificate + b"\n" + key)
            self.show_files(path, path)
        finally:
            os.close(descriptor)
            if not path.startswith("/proc/"):
                os.unlink(path)

    def _choose(self, connection: ssl.SSLObject, _name: Any, _context: ssl.SSLContext) -> int | None:
        if self._newest is None:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        connection.context = self._newest
        return None


def _private_file() -> tuple[int, str]:
    """Opens a file for a key: OpenSSL reads nothing else. One in memory where there are such, which needs no disk that can be written."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("certificate")
        return descriptor, f"/proc/self/fd/{descriptor}"
    return tempfile.mkstemp()
