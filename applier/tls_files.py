"""Handles files of certificates and keys: passes a pair to TLS, which reads only files, and tells when a file has changed."""

from __future__ import annotations

import os
import ssl
from contextlib import suppress
from pathlib import Path

Stamp = tuple[int, int, int]


def load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Loads a certificate chain and its key in PEM form.

    Raises `SSLError` if they do not belong together, and `ValueError` if the key is encrypted.

    The file is in memory where the system supports it, and needs no writable disk; else only we can read it, and it is deleted at once.
    """
    handle, path = _private_file()
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(certificate + b"\n" + key + b"\n")
            file.flush()
            context.load_cert_chain(path, password=_no_password)
    finally:
        if not path.startswith("/proc/"):
            os.unlink(path)


def _private_file() -> tuple[int, str]:
    """Opens a file that only we can read; returns its descriptor and its path."""
    if os.path.isdir("/proc/self/fd"):
        with suppress(AttributeError, OSError):  # other systems, and those that deny it, as with `vm.memfd_noexec=2`
            handle = os.memfd_create("certificate")
            return handle, f"/proc/self/fd/{handle}"
    import tempfile  # for few systems

    return tempfile.mkstemp(suffix=".pem")


def _no_password() -> str:
    """Raises `ValueError`: without a function OpenSSL asks for a password, at the terminal of whoever has started the program."""
    raise ValueError("its key is encrypted")


def stamp(path: str | Path) -> Stamp | None:
    """Returns inode, modification time and size of a file, by which a change is detected; None if there is no such file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
