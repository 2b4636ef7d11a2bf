"""Certificates for tests, made by the `openssl` program where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="there is no openssl to make certificates with")


class Pair(NamedTuple):
    """A certificate and its key, as files."""

    certificate: Path
    key: Path

    @property
    def pem(self) -> tuple[str, str]:
        return self.certificate.read_text(), self.key.read_text()


def _openssl(*arguments: str, folder: Path) -> None:
    assert OPENSSL is not None
    subprocess.run([OPENSSL, *arguments], cwd=folder, check=True, capture_output=True)


def authority(folder: Path, name: str = "ca") -> Pair:
    """A certificate authority of our own."""
    extensions = ("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
    new = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", f"/CN={name}")
    _openssl(*new, *extensions, "-keyout", f"{name}.key", "-out", f"{name}.crt", folder=folder)
    return Pair(folder / f"{name}.crt", folder / f"{name}.key")


def signed(by: Pair, name: str, *, for_names: str = "IP:127.0.0.1,DNS:localhost", days: int = 30) -> Pair:
    """A certificate that an authority signed; one with negative days has ended."""
    folder = by.certificate.parent
    new = ("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/O=testers/CN={name}")
    _openssl(*new, "-keyout", f"{name}.key", "-out", f"{name}.csr", folder=folder)
    (folder / f"{name}.ext").write_text(f"subjectAltName={for_names}\n")
    sign = ("x509", "-req", "-in", f"{name}.csr", "-CA", str(by.certificate), "-CAkey", str(by.key), "-CAcreateserial")
    _openssl(*sign, "-days", str(days), "-extfile", f"{name}.ext", "-out", f"{name}.crt", folder=folder)
    return Pair(folder / f"{name}.crt", folder / f"{name}.key")


def encrypt(key: Path) -> None:
    """Encrypts a key in its file."""
    _openssl("pkey", "-in", key.name, "-aes128", "-passout", "pass:secret", "-out", "encrypted", folder=key.parent)
    (key.parent / "encrypted").rename(key)
