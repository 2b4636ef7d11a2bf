"""What connections are shown while certificates change."""

from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtensionOID

from grove_operator.webhooks.authority import serving_fault
from grove_operator.webhooks.certificate import CertificateFiles, NoCertificate, ServedCertificate
from tests.applier.transport.certificates import Pair, authority, encrypt, needs_openssl, signed
from tests.suite.rows import rows

pytestmark = needs_openssl


@pytest.fixture
def ca(tmp_path: Path) -> Pair:
    return authority(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "served").mkdir()
    return tmp_path / "served"


def install(pair: Pair, folder: Path) -> None:
    shutil.copy(pair.certificate, folder / "tls.crt")
    shutil.copy(pair.key, folder / "tls.key")


async def test_a_new_certificate_counts_for_new_connections(ca: Pair, folder: Path) -> None:
    told: list[str] = []
    install(signed(ca, "first"), folder)
    shown = ServedCertificate()
    files = CertificateFiles(str(folder), shown, "", time.time, told.append, interval=0.01)
    await files.first()
    before = await _subject(shown, ca)
    install(signed(ca, "second"), folder)
    await _until_told(files, told)
    assert (before, await _subject(shown, ca), told) == ("first", "second", ["the certificate was renewed"])


async def test_files_that_do_not_belong_together_leave_the_old_certificate(ca: Pair, folder: Path) -> None:
    told: list[str] = []
    install(signed(ca, "first"), folder)
    shown = ServedCertificate()
    files = CertificateFiles(str(folder), shown, "", time.time, told.append, interval=0.01)
    await files.first()
    shutil.copy(signed(ca, "other").key, folder / "tls.key")
    await _until_told(files, told)
    assert (await _subject(shown, ca), told[0].split(":")[0]) == (
        "first",
        "the new certificate cannot be used; still using the old one",
    )


@pytest.mark.parametrize("missing", ["tls.crt", "tls.key"])
async def test_a_missing_file_is_named(missing: str, ca: Pair, folder: Path) -> None:
    install(signed(ca, "first"), folder)
    (folder / missing).unlink()
    with pytest.raises(NoCertificate, match=missing):
        await CertificateFiles(str(folder), ServedCertificate(), "", time.time, print).first()


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_certificate_with_another_kind_of_key_takes_the_place_of_the_old_one(newest: ssl.TLSVersion, ca: Pair) -> None:
    shown = ServedCertificate()
    shown.show(*(text.encode() for text in with_rsa(ca, "rsa")))
    before = await _subject(shown, ca, newest)
    shown.show(*(text.encode() for text in signed(ca, "ecdsa").pem))
    assert (before, await _subject(shown, ca, newest)) == ("rsa", "ecdsa")


def test_what_is_no_certificate_is_refused_without_a_word_of_the_key(ca: Pair) -> None:
    _, key = signed(ca, "first").pem
    with pytest.raises(NoCertificate) as refused:
        ServedCertificate().show(b"nonsense", key.encode())
    assert "PRIVATE" not in str(refused.value)


async def test_a_key_that_is_encrypted_is_told_and_nobody_is_asked_for_its_password(ca: Pair, folder: Path) -> None:
    install(signed(ca, "first"), folder)
    encrypt(folder / "tls.key")
    with pytest.raises(NoCertificate, match=r"tls\.crt: its key is encrypted$"):
        await CertificateFiles(str(folder), ServedCertificate(), "", time.time, print).first()


async def test_before_there_is_a_certificate_no_connection_is_made(ca: Pair) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await _subject(ServedCertificate(), ca)


def with_rsa(by: Pair, name: str) -> tuple[str, str]:
    """As `signed`, with a key of the older kind."""
    folder = by.certificate.parent
    pair = signed(by, name)
    new = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr"]
    subprocess.run(new, cwd=folder, check=True, capture_output=True)
    sign = ["openssl", "x509", "-req", "-in", f"{name}.csr", "-CA", str(by.certificate), "-CAkey", str(by.key), "-days", "30"]
    more = ["-extfile", f"{name}.ext", "-CAcreateserial", "-out", f"{name}.crt"]
    subprocess.run([*sign, *more], cwd=folder, check=True, capture_output=True)
    return pair.pem


NAME, NOW = "admission.grove-system.svc", datetime(2026, 3, 1, tzinfo=UTC)
REJECTED = "API servers reject the certificate, which "


@rows(
    ("names", "starts", "ends", "fault"),
    [
        ([NAME], -1, 30, ""),
        (["other", "*.grove-system.svc"], -1, 30, ""),
        ([NAME.upper()], -1, 30, ""),
        ([NAME], -1, 6, "the certificate expires on 2026-03-07 00:00 UTC, and nobody has renewed it"),
        ([NAME], -9, -1, f"{REJECTED}has expired on 2026-02-28 00:00 UTC"),
        ([NAME], 1, 30, f"{REJECTED}is valid from 2026-03-02 00:00 UTC"),
        (["other", "*.svc"], -1, 30, f"{REJECTED}is for *.svc, other, and not for {NAME}"),
        ([], -1, 30, f"{REJECTED}is for no name, and not for {NAME}"),
    ],
    ids=["right", "wildcard", "capitals", "ends soon", "ended", "begins later", "other names", "no name"],
)
def test_what_api_servers_reject_is_told(names: list[str], starts: int, ends: int, fault: str) -> None:
    assert serving_fault(made(names, starts, ends), NAME, NOW) == fault


def test_a_name_that_is_not_known_is_not_compared() -> None:
    assert serving_fault(made(["other"], -1, 30), "", NOW) == ""


def test_what_cannot_be_read_is_left_to_tls() -> None:
    assert [serving_fault(chain, NAME, NOW) for chain in (b"", b"nonsense")] == ["", ""]


ODD = {
    "names of an unusual kind": (ExtensionOID.SUBJECT_ALTERNATIVE_NAME, b"\x30\x02\xa5\x00"),
    "names that are none": (ExtensionOID.SUBJECT_ALTERNATIVE_NAME, b"\x01\x02"),
    "usages that are none": (ExtensionOID.EXTENDED_KEY_USAGE, b"\x01\x02"),
}


@pytest.mark.parametrize(("identifier", "value"), ODD.values(), ids=ODD)
def test_what_cannot_be_read_of_a_certificate_is_left_to_tls(identifier: x509.ObjectIdentifier, value: bytes) -> None:
    assert serving_fault(made([], -1, 30, x509.UnrecognizedExtension(identifier, value)), NAME, NOW) == ""


async def test_new_files_count_also_where_no_library_can_judge_them(ca: Pair, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files need none: it only makes certificates, and tells what is wrong with them."""
    monkeypatch.setitem(sys.modules, "grove_operator.webhooks.authority", None)
    told: list[str] = []
    install(signed(ca, "first"), folder)
    files = CertificateFiles(str(folder), ServedCertificate(), "", time.time, told.append, interval=0.01)
    await files.first()
    task = asyncio.create_task(files.keep_fresh(told.append))
    await asyncio.sleep(0.1)
    install(signed(ca, "second"), folder)
    await _until(lambda: told)
    task.cancel()
    assert told == ["the certificate was renewed"]


async def test_a_certificate_that_ends_is_told_once_and_so_is_its_successor(ca: Pair, folder: Path) -> None:
    told: list[str] = []
    install(signed(ca, "first", days=8), folder)
    now = [time.time()]
    files = CertificateFiles(str(folder), ServedCertificate(), "", lambda: now[0], told.append, interval=0.01)
    await files.first()
    task = asyncio.create_task(files.keep_fresh(told.append))
    await asyncio.sleep(0.1)
    now[0] += 9 * 86400
    await _until(lambda: told)
    await asyncio.sleep(0.1)
    install(signed(ca, "second"), folder)
    await _until(lambda: len(told) >= 3)
    task.cancel()
    assert f"{folder / 'tls.crt'}: {REJECTED}has expired on" in told[0]
    assert told[1:] == ["the certificate was renewed", "API servers can accept the certificate"]


def made(names: list[str], starts: int, ends: int, *more: x509.ExtensionType) -> bytes:
    """A certificate for DNS names, with the days of its beginning and end from now."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(NOW + timedelta(days=starts)).not_valid_after(NOW + timedelta(days=ends))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(one) for one in names]), critical=False)
    for extension in more:
        builder = builder.add_extension(extension, critical=False)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


async def _until(look: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not look():
            await asyncio.sleep(0.01)


async def _subject(shown: ServedCertificate, ca: Pair, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> str:
    """The common name that a new connection is shown."""
    listening = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=shown.tls)
    tls = ssl.create_default_context(cafile=str(ca.certificate))
    tls.maximum_version = newest
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls)
        subject = dict(part[0] for part in writer.get_extra_info("peercert")["subject"])
        writer.close()
    return str(subject["commonName"])


async def _until_told(files: CertificateFiles, told: list[str]) -> None:
    task = asyncio.create_task(files.keep_fresh(told.append))
    async with asyncio.timeout(60):
        while not told:
            await asyncio.sleep(0.01)
    task.cancel()
