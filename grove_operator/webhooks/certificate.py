"""Holds the serving certificate of a server, and replaces it while the server runs."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Callable
from typing import Any, Protocol

Log = Callable[[str], None]


class NoCertificate(Exception):
    """There is no certificate to serve with. The message is one line."""


class CertificateSource(Protocol):
    """A source of certificates."""

    async def first(self) -> None:
        """Provides the first certificate. Raises `NoCertificate`, and `ClusterError` if it reads from a cluster."""

    async def keep_fresh(self, log: Log) -> None:
        """Provides renewed certificates until cancelled, and logs errors."""


class ServedCertificate:
    """The certificate of a server. `tls` is its context: new connections use the newest certificate, existing ones are not closed."""

    def __init__(self) -> None:
        self._newest: ssl.SSLContext | None = None
        self.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        # A context holds one certificate per type of key, so that loading one of another type would leave the old one in use.
        self.tls.sni_callback = self._choose

    def show_files(self, certificate: str, key: str) -> None:
        """Uses the certificate and key of two files. Raises `NoCertificate` if they are invalid, and keeps the old one then."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(certificate, key)
        except ssl.SSLError as error:
            raise NoCertificate(f"{certificate}: not a certificate that matches its key ({error.reason})") from None
        except OSError as error:
            raise NoCertificate(f"{certificate} and {key} are needed: {(error.strerror or str(error)).lower()}") from None
        self._newest = context

    def show(self, certificate: bytes, key: bytes) -> None:
        """Uses a certificate chain and its key, as PEM. Raises `NoCertificate` if they are invalid."""
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
    """Opens a file for a key, as OpenSSL reads only files: in memory where the system supports it, without a writable disk."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("certificate")
        return descriptor, f"/proc/self/fd/{descriptor}"
    return tempfile.mkstemp()
