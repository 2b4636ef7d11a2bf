"""TLS: who is trusted, who is not, and what is said about it."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from applier.errors import CredentialsError, Unreachable
from applier.transport import connect_to
from applier.transport.breakage import Breakage, unreachable

from .certificates import Pair, authority, needs_openssl, signed
from .scripted import CONFIG_MAPS, HASTY, Answer, Scripted, config_map, raised, scripted

OBJECT = "/api/v1/namespaces/ns/configmaps/a"


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return authority(tmp_path_factory.mktemp("certificates"))


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
    assert "speaks TLS; should the address begin with https:// ?" in await refusal(server.url)


async def test_an_authority_that_is_no_certificate_is_said() -> None:
    error = await raised(lambda: get("https://127.0.0.1:1", ca="nonsense"))
    assert isinstance(error, CredentialsError)
    assert "its certificate authority cannot be used" in str(error)


async def test_a_refused_connection_is_said() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "the connection is refused; is the server running, and is this its port?" in await refusal(f"http://127.0.0.1:{port}")


KEY = SimpleNamespace(host="h", port=1, ssl=True, is_ssl=True)


def certificate(code: int, message: str) -> Exception:
    inner = ssl.SSLCertVerificationError(1, message)
    inner.verify_code, inner.verify_message = code, message
    return aiohttp.ClientConnectorCertificateError(KEY, inner)  # type: ignore[arg-type]


SENTENCES: dict[str, tuple[BaseException, str]] = {
    "a name that nobody knows": (
        aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "Name or service not known")),  # type: ignore[arg-type]
        "cannot reach https://s (context 'c'): the name h is not known here (DNS: Name or service not known)",
    ),
    "a certificate of tomorrow": (
        certificate(9, "certificate is not yet valid"),
        "its certificate is not yet valid, if this machine's clock (",
    ),
    "a proxy that is away": (
        aiohttp.ClientProxyConnectionError(KEY, OSError(errno.ECONNREFUSED, "Connection refused")),  # type: ignore[arg-type]
        "its proxy h:1 does not answer: Connection refused",
    ),
    "a firewall": (
        aiohttp.ConnectionTimeoutError("Connection timeout to host"),
        "nobody answers at this address; is a firewall or VPN in between?",
    ),
    "an answer that does not come": (TimeoutError(), "https://s (context 'c') did not answer in time"),
    "an answer that ends too soon": (aiohttp.ClientPayloadError("400"), "ended the connection before its answer was complete"),
    "a reset": (aiohttp.ClientOSError(errno.ECONNRESET, "Connection reset by peer"), "broke the connection: Connection reset by peer"),
    "an alert": (
        aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "[SSL: TLSV1_ALERT_UNKNOWN_CA] alert")),
        "it refused the TLS handshake",
    ),
}


@pytest.mark.parametrize("case", SENTENCES.values(), ids=SENTENCES)
def test_each_way_to_fail_has_its_sentence(case: tuple[BaseException, str]) -> None:
    error, says = case
    assert isinstance(error, Breakage)
    assert says in str(unreachable(error, "https://s", "context 'c'", reading=True))


NEVER_SENT = ["a name that nobody knows", "a certificate of tomorrow", "a proxy that is away", "a firewall", "an alert"]


@pytest.mark.parametrize("name", SENTENCES)
def test_only_what_was_sent_may_be_done(name: str) -> None:
    assert unreachable(SENTENCES[name][0], "https://s", "", reading=False).maybe_done == (name not in NEVER_SENT)


def test_a_timeout_of_asyncio_is_a_breakage() -> None:
    assert isinstance(TimeoutError(), Breakage)
