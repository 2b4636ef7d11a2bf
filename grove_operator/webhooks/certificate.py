"""Holds the serving certificate of a server, replaces it while the server runs, and provides that of two files."""

from __future__ import annotations

import asyncio
import os
import ssl
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Protocol

Log = Callable[[str], None]
CERTIFICATE, KEY = "tls.crt", "tls.key"
"""The file names of a mounted Secret of the type kubernetes.io/tls."""
INTERVAL = 10.0
"""Seconds between two checks of the files. The kubelet takes up to a minute to update them after a change of the Secret."""


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
            raise NoCertificate(f"{certificate}: not a certificate that matches its key ({error.reason or 'nothing in PEM'})") from None
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


class CertificateFiles:
    """A certificate chain and its key in a folder (a `CertificateSource`).

    `name` is the DNS name by which API servers call us, empty if that is not known; `clock` gives seconds since the epoch, and `note` takes
    good news.
    """

    def __init__(
        self, folder: str, shown: ServedCertificate, name: str, clock: Callable[[], float], note: Log, interval: float = INTERVAL
    ) -> None:
        self._files = [os.path.join(folder, name) for name in (CERTIFICATE, KEY)]
        self._shown, self._name, self._clock, self._note, self._interval = shown, name, clock, note, interval
        self._loaded: list[tuple[int, int, int]] = []
        self._chain, self._fault = b"", ""

    async def first(self) -> None:
        """Loads the files. Raises `NoCertificate` if they are invalid."""
        self._loaded = self._state()
        self._load()

    async def keep_fresh(self, log: Log) -> None:
        """Reloads the files whenever they change, until cancelled. Invalid files are logged, and the old certificate stays in use.

        So is what API servers will not accept in the one in use: nobody else would tell whoever looks after it.
        """
        while True:
            self._judge(log)
            await asyncio.sleep(self._interval)
            if (state := self._state()) == self._loaded:
                continue
            self._loaded = state
            try:
                self._load()
            except NoCertificate as error:
                log(f"the new certificate cannot be used; still using the old one: {error}")
            else:
                self._note("the certificate was renewed")

    def _load(self) -> None:
        self._shown.show_files(*self._files)
        with suppress(OSError), open(self._files[0], "rb") as file:
            self._chain = file.read()

    def _judge(self, log: Log) -> None:
        """Logs what is wrong with the certificate in use, once, and the end of that."""
        try:
            from grove_operator.webhooks.authority import serving_fault  # `cryptography` takes 50 ms to import
        except ModuleNotFoundError:
            return  # files need no library
        fault = serving_fault(self._chain, self._name, datetime.fromtimestamp(self._clock(), UTC))
        if fault != self._fault:
            if fault:
                log(f"{self._files[0]}: {fault}")
            else:
                self._note("API servers can accept the certificate")
        self._fault = fault

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
