"""Certificates that are renewed again and again while hundreds of connections ask: each is answered, who comes later sees the newest."""

from __future__ import annotations

import asyncio
import json
import ssl
from pathlib import Path

import pytest

from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.certificate import ServedCertificate
from grove_operator.webhooks.review import Reviewer
from grove_operator.webhooks.server import ReviewServer
from tests.applier.transport.certificates import Pair, authority, needs_openssl, signed
from tests.suite.effort import runs
from tests.webhooks.conftest import Manifest, asked

pytestmark = needs_openssl

CONNECTIONS = min(runs(40), 500)
RENEWALS = 4


class Client:
    """One connection, which asks for a review whenever it is told to."""

    def __init__(self, port: int, tls: ssl.SSLContext, body: bytes) -> None:
        self.port, self.tls, self.body = port, tls, body

    async def connect(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=self.tls, server_hostname="localhost")

    def shown(self) -> bytes:
        """The certificate that the connection was shown."""
        found: bytes = self.writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return found

    async def ask(self) -> bool:
        """Whether a valid set is allowed."""
        head = f"POST /webhooks/validate-podcliqueset HTTP/1.1\r\nHost: x\r\nContent-Length: {len(self.body)}\r\n\r\n"
        self.writer.write(head.encode() + self.body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = next(line.partition(b":")[2] for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length"))
        return bool(json.loads(await self.reader.readexactly(int(length)))["response"]["allowed"])

    async def close(self) -> None:
        self.writer.close()


@pytest.fixture
def ca(tmp_path: Path) -> Pair:
    return authority(tmp_path)


async def test_none_fails_while_certificates_are_renewed(judge: Reviewer, workload: Manifest, ca: Pair) -> None:
    told: list[str] = []
    pairs = [signed(ca, f"webhook-{number}") for number in range(RENEWALS + 1)]
    shown = ServedCertificate()
    shown.show(*(text.encode() for text in pairs[0].pem))
    server = ReviewServer(Answers(lambda: judge).by_path(), shown.tls, told.append)
    port = await server.start("127.0.0.1", 0)
    tls = ssl.create_default_context(cafile=str(ca.certificate))
    clients = [Client(port, tls, json.dumps(asked("CREATE", workload)).encode()) for _ in range(CONNECTIONS)]
    await asyncio.gather(*(one.connect() for one in clients))
    for pair in pairs[1:]:
        asking = [asyncio.create_task(one.ask()) for one in clients]
        await asyncio.sleep(0)  # all have begun to ask
        shown.show(*(text.encode() for text in pair.pem))
        assert await asyncio.gather(*asking) == [True] * CONNECTIONS
        leaving = clients[: CONNECTIONS // 4]
        for one in leaving:
            await one.close()
        await asyncio.gather(*(one.connect() for one in leaving))
        newest = ssl.PEM_cert_to_DER_cert(pair.pem[0])
        assert {one.shown() for one in leaving} == {newest}
        clients = clients[CONNECTIONS // 4 :] + leaving
    assert await asyncio.gather(*(one.ask() for one in clients)) == [True] * CONNECTIONS
    for one in clients:
        await one.close()
    await server.stop()
    assert told == []
