"""Sends requests to a server: retries them if that is safe and useful, renews credentials, counts, and turns rejections into errors."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import NamedTuple, TypeVar

import orjson

from applier.errors import ApiError, ClusterError, TooManyRequests, Unauthorized, UnknownKind, Untrusted
from applier.events import Retried, Sink, Throttled
from applier.http import Client, Headers, Request, Response, Stream
from applier.ref import Manifest
from applier.transport.connection_errors import ConnectionErrors, unreachable
from applier.transport.login.credentials import Renewal
from applier.transport.login.target import Target, trust
from applier.transport.refusals import WRONG_ADDRESS, refusal
from applier.transport.retries import ApiRequest, Retries, RetryBudget, Tries
from applier.transport.server_clock import ServerClock

T = TypeVar("T")

JSON = "application/json"
READS = frozenset({"get", "list", "watch"})


Trace = Callable[[str, str, int, float], None]
"""Receives each try of a request: method, path with query, the response's status or 0 without one, and the seconds until then."""


def untraced(method: str, path: str, status: int, seconds: float) -> None:
    """Ignores tries; the default `Trace`."""


class Answer(NamedTuple):
    """Represents a successful response. `unsure` means that an earlier try may have been carried out as well."""

    body: bytes
    headers: Headers
    unsure: bool
    status: int

    def document(self) -> Manifest:
        """Returns the JSON object in it. Raises `ClusterError` for anything else."""
        try:
            document = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            raise ClusterError(f"the server's answer is not JSON; {WRONG_ADDRESS}") from None
        if not isinstance(document, dict):
            raise ClusterError(f"the server's answer is no JSON object; {WRONG_ADDRESS}")
        return document


class Uncertain(ClusterError):
    """Reports a rejection after an earlier try that may have been carried out. `error` is the rejection."""

    def __init__(self, error: ApiError) -> None:
        super().__init__(str(error))
        self.error = error


class Wire:
    """Sends the requests to one server. `in_flight` is the number of requests in progress; `throttled` counts 429 responses.

    `clock` is the server's, as successful responses tell it: others may come from a proxy.
    """

    def __init__(self, target: Target, *, user_agent: str, retries: Retries, sink: Sink, trace: Trace = untraced) -> None:
        self.target, self.retries, self.sink, self.trace = target, retries, sink, trace
        self.budget, self.clock = RetryBudget(), ServerClock()
        self.requests: Counter[tuple[str, str]] = Counter()
        self.in_flight = self.throttled = 0
        self.answered = False
        self.on_unknown_kind: Callable[[], None] = lambda: None
        self._renewal = Renewal(target.credentials, lambda: target.ca)
        self._trusted: tuple[str, tuple[str, str]] | None = None
        encoding = "identity" if target.loopback else "gzip"
        self._client = Client(
            target.server,
            proxy=target.proxy,
            server_name=target.server_name,
            headers=[("User-Agent", user_agent), ("Accept-Encoding", encoding), *target.headers],
            connect=retries.connect,
        )

    @property
    def connections(self) -> int:
        """Returns the number of open connections, idle ones included."""
        return self._client.connections

    async def close(self) -> None:
        """Closes all connections."""
        await self._client.close()

    async def call(
        self,
        request: ApiRequest,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        content_type: str = JSON,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Sends a request, with retries. Raises `ClusterError`; `Uncertain` for a rejection after a try that may have been carried out."""
        tries = Tries(self.retries, self.budget, request.idempotent, known=self.answered)
        answer = await self._retried(request, tries, lambda: self._once(request, method, path, body, content_type, headers))
        return Answer(answer.body, answer.headers, tries.unsure, answer.status)

    async def stream(
        self, request: ApiRequest, path: str, *, headers: dict[str, str] | None = None, silence: float | None = None
    ) -> Stream:
        """Opens a stream, with retries; one that is silent for `silence` seconds times out, by default as a watch does.

        The caller closes the stream.
        """
        tries = Tries(self.retries, self.budget, idempotent=True, known=self.answered)
        longest = self.retries.stall if silence is None else silence
        return await self._retried(request, tries, lambda: self._open(request, path, headers, longest))

    async def _retried(self, request: ApiRequest, tries: Tries, attempt: Callable[[], Awaitable[T]]) -> T:
        """Retries an attempt, and once with renewed credentials after it was unauthorized.

        So too if the server's certificate is not trusted: its authority may have been replaced on disk a moment ago.
        """
        renewed = False
        while True:
            try:
                sent = await self._renewal.ready()
                result = await attempt()
                self.budget.note_accepted()
                return result
            except (Unauthorized, Untrusted):
                if renewed or not await self._renewal.after(sent):
                    raise
                renewed = True
            except ClusterError as error:
                await self._wait(tries, error, request)

    def broken(self, error: BaseException, *, reading: bool = True) -> ClusterError:
        """Returns the error for a connection that broke."""
        return unreachable(error, self.target.server, self.target.label, reading=reading)

    async def _wait(self, tries: Tries, error: ClusterError, request: ApiRequest) -> None:
        """Waits until the next try; raises the error if there is none."""
        was_unsure = tries.unsure
        pause = tries.pause(error)
        if isinstance(error, UnknownKind):
            self.on_unknown_kind()
        if pause is None:
            if was_unsure and isinstance(error, ApiError) and request.verb in ("create", "delete"):
                raise Uncertain(error) from None
            raise error from None
        if isinstance(error, TooManyRequests):
            self.throttled += 1
            self.sink(Throttled(pause, self.in_flight))
        else:
            self.sink(Retried(request.ref, tries.count, str(error)))
        await asyncio.sleep(pause)

    async def _once(
        self, request: ApiRequest, method: str, path: str, body: bytes | None, content_type: str, headers: dict[str, str] | None
    ) -> Response:
        """Tries a request once; returns a successful response and raises the error of any other."""
        all_headers = self._headers(headers, content_type if body is not None else "")
        self.requests[request.verb, request.plural] += 1
        self.in_flight += 1
        status, began = 0, time.monotonic()
        try:
            response = await self._client.call(Request(method, path, all_headers, body), self.retries.timeout)
            status = response.status
        except ConnectionErrors as error:
            raise self.broken(error, reading=request.verb in READS) from None
        finally:
            self.in_flight -= 1
            self.trace(method, path, status, time.monotonic() - began)
        self.answered = True
        if response.status >= 300:
            raise refusal(response.status, response.headers, response.body, request, self.target)
        self.clock.note(response.headers, began)
        return response

    async def _open(self, request: ApiRequest, path: str, headers: dict[str, str] | None, silence: float) -> Stream:
        self.requests[request.verb, request.plural] += 1
        status, began = 0, time.monotonic()
        try:
            stream = await self._client.open(Request("GET", path, self._headers(headers, "")), self.retries.timeout, silence)
            status = stream.status
            if status < 300:
                self.answered = True
                self.clock.note(stream.headers, began)
                return stream
            with closing(stream):
                content = await stream.read()
        except ConnectionErrors as error:
            raise self.broken(error) from None
        finally:
            self.trace("GET", path, status, time.monotonic() - began)
        raise refusal(stream.status, stream.headers, content, request, self.target)

    def _headers(self, more: dict[str, str] | None, content_type: str) -> dict[str, str]:
        """Returns the headers of a request, with the current credentials."""
        credentials = self.target.credentials
        if self._trusted != (self.target.ca, credentials.pair):
            self._trust()
        headers = {"Accept": JSON}
        if authorization := credentials.authorization():
            headers["Authorization"] = authorization
        if content_type:
            headers["Content-Type"] = content_type
        return headers | more if more else headers

    def _trust(self) -> None:
        """Sets up TLS with the current certificate authority and client certificate."""
        ca, pair = self.target.ca, self.target.credentials.pair
        if self.target.encrypted:
            self._client.tls = trust(self.target, ca, *pair)
        self._trusted = ca, pair
