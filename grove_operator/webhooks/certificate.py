"""Holds the serving certificate of a server, replaces it while the server runs, and provides that of two files."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from applier.tls_files import Stamp, load_pair, stamp

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

    def show(self, certificate: bytes, key: bytes) -> None:
        """Uses a certificate chain and its key, as PEM. Raises `NoCertificate` if they are invalid, and keeps the old one then."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            load_pair(context, certificate, key)
        except ssl.SSLError as error:
            raise NoCertificate(f"not a certificate that matches its key ({error.reason or 'nothing in PEM'})") from None
        except ValueError as error:
            raise NoCertificate(str(error)) from None
        self._newest = context

    def _choose(self, connection: ssl.SSLObject, _name: Any, _context: ssl.SSLContext) -> int | None:
        if self._newest is None:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        connection.context = self._newest
        return None


class CertificateFiles:
    """A certificate chain and its key in a folder (a `CertificateSource`).

    `name` is the DNS name by which API servers call us, empty if that is not known; `clock` gives seconds since the epoch, and `note` takes
    good news.
    """

    def __init__(
        self, folder: str, shown: ServedCertificate, name: str, clock: Callable[[], float], note: Log, interval: float = INTERVAL
    ) -> None:
        self._files = [Path(folder, name) for name in (CERTIFICATE, KEY)]
        self._shown, self._name, self._clock, self._note, self._interval = shown, name, clock, note, interval
        self._loaded: list[Stamp | None] = []
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
        try:
            chain, key = (file.read_bytes() for file in self._files)
            self._shown.show(chain, key)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise NoCertificate(f"{' and '.join(map(str, self._files))} are needed: {why}") from None
        except NoCertificate as error:
            raise NoCertificate(f"{self._files[0]}: {error}") from None
        self._chain = chain

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

    def _state(self) -> list[Stamp | None]:
        return [stamp(file) for file in self._files]
