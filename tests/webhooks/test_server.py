"""The webhooks over HTTPS: whatever comes is answered or refused, and never allowed by mistake."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import aiohttp
import pytest

from grove_compiler.graph.diagnostic import Diagnostic
from grove_operator.install import webhook_configurations as hooks
from grove_operator.webhooks import server as server_module
from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.certificate import CertificateFiles, ServedCertificate
from grove_operator.webhooks.review import AdmissionRequest, Reviewer
from grove_operator.webhooks.server import MAX_BODY, ReviewServer
from tests.applier.transport.certificates import Pair, authority, needs_openssl, signed
from tests.webhooks.conftest import Manifest, asked

pytestmark = needs_openssl

VALIDATE_SETS = hooks.VALIDATE_SETS.path


class Serving(NamedTuple):
    """A server that runs, how to reach it, and what it told."""

    server: ReviewServer
    url: str
    client: aiohttp.ClientSession
    told: list[str]

    async def post(self, body: bytes | Manifest, path: str = VALIDATE_SETS) -> tuple[int, str]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with self.client.post(self.url + path, data=data, headers={"Content-Type": "application/json"}) as answer:
            return answer.status, await answer.text()


@pytest.fixture
def ca(tmp_path: Path) -> Pair:
    return authority(tmp_path)


def install(pair: Pair, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    shutil.copy(pair.certificate, folder / "tls.crt")
    shutil.copy(pair.key, folder / "tls.key")
    return folder


@asynccontextmanager
async def server_running(judge: Reviewer, ca: Pair, folder: Path) -> AsyncIterator[Serving]:
    told: list[str] = []
    shown = ServedCertificate()
    await CertificateFiles(str(install(signed(ca, "webhook"), folder)), shown, "", time.time, print).first()
    server = ReviewServer(Answers(lambda: judge).by_path(), shown.tls, told.append)
    port = await server.start("127.0.0.1", 0)
    tls = ssl.create_default_context(cafile=str(ca.certificate))
    try:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls)) as client:
            yield Serving(server, f"https://127.0.0.1:{port}", client, told)
    finally:
        await server.stop()


@pytest.fixture
async def serving(judge: Reviewer, ca: Pair, tmp_path: Path) -> AsyncIterator[Serving]:
    async with server_running(judge, ca, tmp_path / "certificates") as one:
        yield one


async def test_a_review_is_answered_with_its_uid(serving: Serving, workload: Manifest) -> None:
    status, text = await serving.post(asked("CREATE", workload))
    assert (status, json.loads(text)["response"]) == (200, {"uid": "42", "allowed": True})


async def test_defaults_have_a_path_of_their_own(serving: Serving, workload: Manifest) -> None:
    _, text = await serving.post(asked("CREATE", workload), hooks.DEFAULT_SETS.path)
    assert json.loads(text)["response"]["patchType"] == "JSONPatch"


BODIES: dict[str, tuple[bytes, int]] = {
    "nothing": (b"", 400),
    "no JSON": (b"{", 400),
    "bytes that are no text": (b'{"kind": "\xff\xfe"}', 400),
    "JSON that is no review": (b"[1, 2]", 400),
    "a number": (b"7", 400),
    "a review without a request": (b'{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}', 400),
    "JSON nested too deeply": (b"[" * 200_000, 400),
    "a body that is too large": (b" " * (MAX_BODY + 1), 413),
}


@pytest.mark.parametrize(("body", "status"), BODIES.values(), ids=BODIES)
async def test_what_is_no_review_is_refused(body: bytes, status: int, serving: Serving) -> None:
    assert (await serving.post(body))[0] == status


@pytest.mark.parametrize(("method", "path", "status"), [("GET", VALIDATE_SETS, 405), ("POST", "/", 404), ("PUT", VALIDATE_SETS, 405)])
async def test_other_methods_and_paths_are_refused(method: str, path: str, status: int, serving: Serving) -> None:
    async with serving.client.request(method, serving.url + path) as answer:
        assert answer.status == status


async def test_an_object_that_is_nonsense_is_not_allowed(serving: Serving, workload: Manifest) -> None:
    workload["spec"] = [{"a": [None]}]
    status, text = await serving.post(asked("CREATE", workload))
    assert (status, json.loads(text)["response"]["allowed"]) == (200, False)


async def test_a_fault_of_ours_is_no_review_and_is_told(ca: Pair, workload: Manifest, tmp_path: Path) -> None:
    class Broken(Reviewer):
        def findings(self, request: AdmissionRequest) -> list[Diagnostic]:
            raise ZeroDivisionError("by zero")

    async with server_running(Broken(None), ca, tmp_path / "certificates") as serving:  # type: ignore[arg-type]
        status, text = await serving.post(asked("CREATE", workload))
        assert (status, "Traceback" in text, serving.told) == (500, False, [f"{VALIDATE_SETS}: ZeroDivisionError: by zero"])


async def test_a_body_that_does_not_come_is_not_waited_for(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "MAX_READ", 0.05)

    async def slowly() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(30)

    async with serving.client.post(serving.url + VALIDATE_SETS, data=slowly()) as answer:
        assert answer.status == 408


async def test_it_is_alive_before_it_is_ready(serving: Serving) -> None:
    seen = []
    for path in ("/healthz", "/readyz"):
        async with serving.client.get(serving.url + path) as answer:
            seen.append(answer.status)
    assert seen == [200, 503]


async def test_it_is_ready_once_the_cluster_is_known(serving: Serving) -> None:
    serving.server.is_ready = True
    async with serving.client.get(serving.url + "/readyz") as answer:
        assert answer.status == 200


async def test_one_that_ends_answers_for_a_while_and_has_clients_leave(serving: Serving, workload: Manifest) -> None:
    """A request that is sent on a connection which is just being closed is lost, and with it the edit that it is about."""
    body = asked("CREATE", workload)
    assert (await serving.post(body))[0] == 200, "and the connection is kept"
    ending = asyncio.ensure_future(serving.server.stop())
    await asyncio.sleep(0)
    async with serving.client.post(serving.url + VALIDATE_SETS, json=body) as answer:
        assert (answer.status, answer.headers["Connection"]) == (200, "close")
    await ending
