"""Whoever asks, and whatever: a well-formed answer or a closed connection; no traceback, and nothing allowed by mistake."""

from __future__ import annotations

import asyncio
import copy
import gzip
import json
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grove_compiler.compile import Inputs, lint
from grove_compiler.graph.diagnostic import has_errors
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.source.document import Document
from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.certificate import ServedCertificate
from grove_operator.webhooks.review import NoReview, Reviewer, read_request
from grove_operator.webhooks.server import ReviewServer
from tests.applier.transport.certificates import authority, needs_openssl, signed
from tests.suite.effort import runs
from tests.suite.rows import rows
from tests.webhooks.conftest import Manifest, asked

pytestmark = needs_openssl

PATHS = sorted(Answers(lambda: None).by_path())  # type: ignore[arg-type, return-value]
VALIDATE = "/webhooks/validate-podcliqueset"
JUNK: list[Any] = [None, True, 0, -1, 2**70, 1.5, "", "x" * 5000, "\ud800", "\x00", "é\u202e", [], [[]], {}, {"": {}}, {"a": [None]}]


class Serving(NamedTuple):
    port: int
    tls: ssl.SSLContext
    told: list[str]

    async def send(self, data: bytes) -> bytes:
        """Everything that comes back to what is sent, until the server closes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=self.tls)
        received = b""
        with suppress(ConnectionError, ssl.SSLError):
            writer.write(data)
            await writer.drain()
            received = await reader.read()
        writer.close()
        return received


@asynccontextmanager
async def serving(judge: Reviewer, folder: Path) -> AsyncIterator[Serving]:
    told: list[str] = []
    ca = authority(folder)
    shown = ServedCertificate()
    shown.show(*(text.encode() for text in signed(ca, "webhook").pem))
    server = ReviewServer(Answers(lambda: judge).by_path(), shown.tls, told.append)
    port = await server.start("127.0.0.1", 0)
    try:
        yield Serving(port, ssl.create_default_context(cafile=str(ca.certificate)), told)
    finally:
        await server.stop()


@pytest.fixture(scope="module")
def webhook_server(program: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[asyncio.Runner, Serving]]:
    """One server for many examples, in a loop of its own."""
    from grove_compiler.model.inputs.settings import Settings
    from grove_compiler.step import StepContext

    judge = Reviewer(StepContext(program, Settings()), ObjectList([]))
    with asyncio.Runner() as runner:
        context = serving(judge, tmp_path_factory.mktemp("certificates"))
        one = runner.run(context.__aenter__())
        yield runner, one
        runner.run(context.__aexit__(None, None, None))


def request(path: str, body: bytes, method: str = "POST", *headers: str) -> bytes:
    head = [f"{method} {path} HTTP/1.1", "Host: x", "Connection: close", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


def read(received: bytes) -> tuple[int, bytes]:
    """Status and body of what came back: 0 for a connection that was closed without a word."""
    if not received:
        return 0, b""
    head, _, body = received.partition(b"\r\n\r\n")
    version, status, *_ = head.split(b" ")
    assert version.startswith(b"HTTP/"), received[:100]
    return int(status), body


def check(received: bytes, told: list[str]) -> Manifest | None:
    """The review that came back; none for a refusal. Fails for anything that is not well formed, and for a traceback."""
    status, body = read(received)
    assert b"Traceback" not in body
    faults = [told.pop() for _ in range(len(told))]
    assert faults == []
    assert status == 0 or status == 200 or 400 <= status < 500, (status, body[:200])
    if status != 200:
        return None
    review = json.loads(body)
    assert (review["kind"], review["apiVersion"]) == ("AdmissionReview", "admission.k8s.io/v1")
    assert isinstance(review["response"]["allowed"], bool)
    return dict(review["response"])


def wrong_set() -> Manifest:
    """A set that no rule lets pass."""
    containers = [{"name": "engine", "image": "engine:1"}]
    spec = {"roleName": "worker", "replicas": 2, "minAvailable": 3, "podSpec": {"containers": containers}}
    template = {"cliques": [{"name": "worker", "spec": spec}]}
    metadata = {"name": "chat", "namespace": "team", "labels": {"app.kubernetes.io/part-of": "chat"}}
    return {
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": metadata,
        "spec": {"replicas": 1, "template": template},
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


REVIEW = asked("UPDATE", wrong_set(), {**wrong_set(), "spec": {"replicas": 1}}, userInfo={"username": "jane"}, name="chat")
PLACES = list(places(REVIEW))


def mutated(changes: list[tuple[tuple[Any, ...], Any]]) -> Manifest:
    review = copy.deepcopy(REVIEW)
    for path, value in changes:
        holder: Any = review
        with suppress(KeyError, IndexError, TypeError):
            for step in path[:-1]:
                holder = holder[step]
            if value is ...:
                del holder[path[-1]]
            else:
                holder[path[-1]] = copy.deepcopy(value)
    return review


def may_pass(review: Manifest, program: Any) -> bool:
    """Whether validating a set may allow this, by another way than the server's."""
    try:
        asked = read_request(review)
    except NoReview:
        return False
    return not asked.is_validated or not has_errors(lint(Inputs([Document(asked.object)], old=[Document(asked.old)]), program))


CHANGES = st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from([..., *JUNK])), min_size=1, max_size=4)


@settings(max_examples=runs(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES, path=st.sampled_from(PATHS))
def test_whatever_stands_in_a_review(changes: Any, path: str, webhook_server: tuple[asyncio.Runner, Serving], program: Any) -> None:
    runner, server = webhook_server
    review = mutated(changes)
    response = check(runner.run(server.send(request(path, json.dumps(review).encode()))), server.told)
    if response is not None:
        assert response["uid"] == review["request"]["uid"]
    if response is not None and path == VALIDATE and response["allowed"]:
        assert may_pass(review, program)


@settings(max_examples=runs(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.one_of(st.binary(max_size=300), st.text(max_size=100).map(str.encode)), path=st.sampled_from(PATHS))
def test_whatever_bytes_are_sent_as_a_body(body: bytes, path: str, webhook_server: tuple[asyncio.Runner, Serving]) -> None:
    runner, server = webhook_server
    assert check(runner.run(server.send(request(path, body))), server.told) is None


@settings(max_examples=runs(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(min_size=1, max_size=200))
def test_whatever_bytes_are_sent_as_a_request(data: bytes, webhook_server: tuple[asyncio.Runner, Serving]) -> None:
    runner, server = webhook_server
    # An end to the headers, so that the server need not wait for more.
    assert check(runner.run(server.send(data + b"\r\n\r\n" + request("/", b""))), server.told) is None


WHOLE = json.dumps(REVIEW).encode()


def requests() -> Iterator[Any]:
    """Yields what no API server sends, by name; it is made when it is needed, for there are 64 MB to compress."""
    deep = json.dumps(REVIEW).replace('"replicas": 2', '"replicas": ' + '{"a":' * 900 + "1" + "}" * 900).encode()
    deeper = json.dumps(REVIEW).replace('"replicas": 2', '"replicas": ' + "[" * 100_000 + "]" * 100_000).encode()
    large = json.dumps(asked("CREATE", {**wrong_set(), "status": {"note": "x" * 3_000_000}})).encode()
    many = json.dumps(asked("CREATE", {**wrong_set(), "spec": {"template": {"cliques": [1] * 100_000}}})).encode()
    found: dict[str, bytes] = {
        "UTF-16": request(VALIDATE, WHOLE.decode().encode("utf-16")),
        "UTF-32": request(VALIDATE, WHOLE.decode().encode("utf-32")),
        "a byte order mark": request(VALIDATE, b"\xef\xbb\xbf" + WHOLE),
        "compressed": request(VALIDATE, gzip.compress(WHOLE), "POST", "Content-Encoding: gzip"),
        "compressed, as it says": request(VALIDATE, WHOLE, "POST", "Content-Encoding: gzip"),
        "compressed to a thousandth": request(VALIDATE, gzip.compress(b" " * (64 << 20)), "POST", "Content-Encoding: gzip"),
        "an unknown compression": request(VALIDATE, WHOLE, "POST", "Content-Encoding: zip"),
        "numbers that are none": request(VALIDATE, WHOLE.replace(b'"replicas": 2', b'"replicas": NaN')),
        "numbers without an end": request(VALIDATE, WHOLE.replace(b'"replicas": 2', b'"replicas": ' + b"9" * 5000)),
        "a key that stands twice": request(VALIDATE, WHOLE.replace(b'"replicas": 2', b'"replicas": 9, "replicas": 2')),
        "deep": request(VALIDATE, deep),
        "too deep": request(VALIDATE, deeper),
        "3 MB": request(VALIDATE, large),
        "a hundred thousand cliques": request(VALIDATE, many),
        "a body that is shorter than it says": request(VALIDATE, WHOLE).replace(b"Content-Length: ", b"Content-Length: 1"),
        "two lengths": request(VALIDATE, WHOLE, "POST", "Content-Length: 3"),
        "a length below zero": request(VALIDATE, WHOLE).replace(b"Content-Length: ", b"Content-Length: -"),
        "chunks that are none": b"POST " + VALIDATE.encode() + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "headers without an end": b"POST / HTTP/1.1\r\n" + b"X-A: " + b"a" * 1_000_000,
        "ten thousand headers": b"POST / HTTP/1.1\r\n" + b"".join(b"X-%d: a\r\n" % number for number in range(10_000)) + b"\r\n",
        "a path that leads up": request("/webhooks/../../etc/passwd", WHOLE),
        "a path with a zero": request("/webhooks/%00", WHOLE),
        "a long path": request("/" + "a" * 100_000, WHOLE),
        "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "HTTP/0.9": b"GET /\r\n\r\n",
        **{f"the method {one}": request(VALIDATE, WHOLE, one) for one in ("GET", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "NONSENSE")},
    }
    for name, data in found.items():
        yield pytest.param(data, id=name)


@rows("data", requests)
def test_what_no_api_server_sends(data: bytes, webhook_server: tuple[asyncio.Runner, Serving], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grove_operator.webhooks.server.MAX_READ", 2.0)
    runner, server = webhook_server
    reading = asyncio.wait_for(server.send(data), 120)
    response = check(runner.run(reading), server.told)
    assert response is None or not response["allowed"]


async def test_a_thousand_connections_that_ask_nothing_keep_nobody_out(judge: Reviewer, workload: Manifest, tmp_path: Path) -> None:
    async with serving(judge, tmp_path) as server:
        opening = [asyncio.open_connection("127.0.0.1", server.port, ssl=server.tls) for _ in range(1000)]
        opened = [one for start in range(0, 1000, 100) for one in await asyncio.gather(*opening[start : start + 100])]
        response = check(await server.send(request(VALIDATE, json.dumps(asked("CREATE", workload)).encode())), server.told)
        assert response is not None
        assert response["allowed"]
        for _, writer in opened:
            writer.close()


@pytest.mark.parametrize("said", [b"", b"POST /webhooks/valid", b"POST / HTTP/1.1\r\nX-A: 1\r\n"], ids=["nothing", "a word", "half of it"])
async def test_who_asks_nothing_is_shown_out(said: bytes, judge: Reviewer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grove_operator.webhooks.server.FIRST_REQUEST", 0.2)
    monkeypatch.setattr("grove_operator.webhooks.server.INTERVAL", 0.05)
    async with serving(judge, tmp_path) as server, asyncio.timeout(60):
        assert check(await server.send(said), server.told) is None


async def test_who_has_asked_may_ask_again(judge: Reviewer, workload: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grove_operator.webhooks.server.FIRST_REQUEST", 0.2)
    monkeypatch.setattr("grove_operator.webhooks.server.INTERVAL", 0.05)
    body = request(VALIDATE, json.dumps(asked("CREATE", workload)).encode()).replace(b"Connection: close\r\n", b"")
    async with serving(judge, tmp_path) as server, asyncio.timeout(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=server.tls)
        for _ in range(2):
            writer.write(body)
            assert b"200" in await reader.readline()
            await asyncio.sleep(0.5)
            await reader.readuntil(b"}}")
        writer.close()
