"""TLS: who is trusted, who is not, and what is said about it."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio

from applier.errors import CredentialsError, Unreachable, Untrusted
from applier.http import ConnectionEnded, Malformed, NotConnected, ProxyRefused
from applier.transport import connect
from applier.transport.connection_errors import ConnectionErrors, unreachable
from tests.connecting import connect_to
from tests.suite.rows import rows

from .certificates import Pair, authority, needs_openssl, signed
from .login.test_kubeconfig import write
from .scripted import CONFIG_MAPS, HASTY, Answer, Scripted, config_map, raised, scripted

OBJECT = "/api/v1/namespaces/ns/configmaps/a"


def serving(pair: Pair, clients: Pair | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    if clients:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients.certificate)
    return context


@pytest_asyncio.fixture
async def encrypted(ca: Pair) -> AsyncIterator[Scripted]:
    async with scripted(serving(signed(ca, "server"))) as server:
        server.on("GET", OBJECT, Answer(200, config_map()))
        yield server


async def get(url: str, **how: Any) -> Any:
    async with connect_to(url, retries=HASTY, **how) as cluster:
        return await cluster.get(CONFIG_MAPS, "ns", "a")


async def refusal(url: str, **how: Any) -> str:
    error = await raised(lambda: get(url, **how))
    assert isinstance(error, Unreachable)
    return str(error)


@needs_openssl
async def test_a_server_of_the_authority_is_trusted(encrypted: Scripted, ca: Pair) -> None:
    assert (await get(encrypted.url, ca=ca.certificate.read_text()))["kind"] == "ConfigMap"


@needs_openssl
async def test_an_unknown_authority_is_not_trusted(encrypted: Scripted) -> None:
    assert "signed by an authority that is not trusted" in await refusal(encrypted.url)


@needs_openssl
async def test_whoever_asks_for_it_trusts_everybody(encrypted: Scripted) -> None:
    assert await get(encrypted.url, insecure=True)


@needs_openssl
async def test_an_authority_that_is_replaced_while_we_run_is_trusted_at_once(tmp_path: Path) -> None:
    old, new = authority(tmp_path, "old"), authority(tmp_path, "new")
    trusted = tmp_path / "ca.crt"
    trusted.write_bytes(old.certificate.read_bytes())
    async with scripted(serving(signed(new, "server"))) as server:
        server.on("GET", OBJECT, Answer(200, config_map()))
        config = write(tmp_path / "config", "one", cluster={"server": server.url, "certificate-authority": "ca.crt"})
        async with connect(kubeconfig=str(config), retries=HASTY) as cluster:
            assert isinstance(await raised(lambda: cluster.get(CONFIG_MAPS, "ns", "a")), Untrusted)
            trusted.write_bytes(new.certificate.read_bytes())
            cluster.wire._renewal.now = lambda: 1e12  # a few seconds later: nobody looks twice within them
            assert await cluster.get(CONFIG_MAPS, "ns", "a")


@needs_openssl
async def test_a_certificate_for_another_name_is_not_trusted(ca: Pair) -> None:
    async with scripted(serving(signed(ca, "elsewhere", for_names="DNS:elsewhere"))) as server:
        assert "its certificate is for another name" in await refusal(server.url, ca=ca.certificate.read_text())


@needs_openssl
async def test_another_name_can_be_expected(ca: Pair) -> None:
    async with scripted(serving(signed(ca, "elsewhere", for_names="DNS:elsewhere"))) as server:
        server.on("GET", OBJECT, Answer(200, config_map()))
        assert await get(server.url, ca=ca.certificate.read_text(), server_name="elsewhere")


@needs_openssl
async def test_a_certificate_that_has_ended_is_said_with_our_time(ca: Pair) -> None:
    async with scripted(serving(signed(ca, "ended", days=-1))) as server:
        said = await refusal(server.url, ca=ca.certificate.read_text())
    assert "its certificate has expired, if this machine's clock (" in said


@needs_openssl
async def test_a_certificate_that_is_not_trusted_is_not_asked_for_twice(encrypted: Scripted) -> None:
    async with connect_to(encrypted.url, retries=HASTY) as cluster:
        await raised(lambda: cluster.get(CONFIG_MAPS, "ns", "a"))
        assert cluster.requests.total() == 1


@needs_openssl
async def test_we_prove_who_we_are_by_certificate(ca: Pair) -> None:
    async with scripted(serving(signed(ca, "strict"), clients=ca)) as server:
        server.on("GET", OBJECT, Answer(200, config_map()))
        assert await get(server.url, ca=ca.certificate.read_text(), certificate=signed(ca, "client").pem)


@needs_openssl
async def test_an_encrypted_server_spoken_to_plainly_is_said(encrypted: Scripted) -> None:
    assert encrypted.url.removeprefix("https") in await refusal(encrypted.url.replace("https", "http"))


async def test_a_plain_server_spoken_to_encrypted_is_said(server: Scripted) -> None:
    assert "it does not speak TLS; should the address begin with http:// ?" in await refusal(server.url.replace("http", "https"))


async def test_an_api_server_spoken_to_plainly_is_said(server: Scripted) -> None:
    server.on("GET", OBJECT, Answer(400, "Client sent an HTTP request to an HTTPS server.\n"))
    assert "uses TLS; should the address begin with https:// ?" in await refusal(server.url)


async def test_an_authority_that_is_no_certificate_is_said() -> None:
    error = await raised(lambda: get("https://127.0.0.1:1", ca="nonsense"))
    assert isinstance(error, CredentialsError)
    assert str(error).endswith("its certificate authority cannot be used: it is not in PEM")


async def test_a_refused_connection_is_said() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "the connection is refused; is the server running, and is this its port?" in await refusal(f"http://127.0.0.1:{port}")


def not_connected(cause: BaseException, proxy: str = "") -> NotConnected:
    error = NotConnected("h", proxy)
    error.__cause__ = cause
    return error


def certificate(code: int, message: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, message)
    error.verify_code, error.verify_message = code, message
    return error


SENTENCES: dict[str, tuple[BaseException, str]] = {
    "a name that nobody knows": (
        not_connected(socket.gaierror(-2, "Name or service not known")),
        "cannot reach https://s (context 'c'): the name h cannot be resolved (DNS: Name or service not known)",
    ),
    "a certificate of tomorrow": (
        not_connected(certificate(9, "certificate is not yet valid")),
        "its certificate is not yet valid, if this machine's clock (",
    ),
    "a proxy that is away": (
        not_connected(OSError(errno.ECONNREFUSED, "Connection refused"), "p:1"),
        "its proxy p:1 does not answer: Connection refused",
    ),
    "a proxy that is none": (not_connected(Malformed("Expected HTTP/"), "p:1"), "its proxy p:1 does not answer: Expected HTTP/"),
    "a proxy that wants a password": (ProxyRefused(407), "its proxy rejects us: it requires a user and a password in its URL"),
    "a proxy that forbids": (ProxyRefused(403), "its proxy rejects us: it answers 403"),
    "a firewall": (not_connected(TimeoutError()), "there is no response from this address; is there a firewall or VPN in between?"),
    "a name that can be none": (
        not_connected(UnicodeError("label empty or too long")),
        "cannot reach https://s (context 'c'): label empty",
    ),
    "an answer that does not come": (TimeoutError(), "https://s (context 'c') did not answer in time"),
    "an answer that ends too soon": (ConnectionEnded(), "closed the connection before its response was complete"),
    "an answer that is not HTTP": (Malformed("Expected HTTP/"), "does not respond like an HTTP server: Expected HTTP/"),
    "a reset": (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), "broke the connection: Connection reset by peer"),
    "an alert": (not_connected(ssl.SSLError(1, "[SSL: TLSV1_ALERT_UNKNOWN_CA] alert")), "it rejected the TLS handshake"),
}


@rows("case", SENTENCES.values(), ids=SENTENCES)
def test_each_way_to_fail_has_its_sentence(case: tuple[BaseException, str]) -> None:
    error, says = case
    assert isinstance(error, ConnectionErrors)
    assert says in str(unreachable(error, "https://s", "context 'c'", reading=True))


SENT = ["an answer that does not come", "an answer that ends too soon", "an answer that is not HTTP", "a reset"]


@rows("name", SENTENCES)
def test_only_what_was_sent_may_be_done(name: str) -> None:
    assert unreachable(SENTENCES[name][0], "https://s", "", reading=False).maybe_done == (name in SENT)


def test_a_timeout_of_asyncio_is_a_breakage() -> None:
    assert isinstance(TimeoutError(), ConnectionErrors)
