"""One request: sent, repeated where that helps and does no harm, counted, and its refusal turned into an error."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import aiohttp
from yarl import URL

from applier.errors import ApiError, ClusterError, CredentialsError, TooManyRequests, Unauthorized, UnknownKind
from applier.events import Retried, Sink, Throttled
from applier.transport.asked import Asked
from applier.transport.breakage import Breakage, Broken, unreachable
from applier.transport.refusals import refusal
from applier.transport.retries import Retries, RetryBudget, Tries
from applier.transport.target import Target, trust

if TYPE_CHECKING:
    import ssl

T = TypeVar("T")

JSON = "application/json"
REFUSED_LIFE = 5.0  # seconds in which a plugin that failed is not run again: many requests may be waiting for it
READS = frozenset({"get", "list", "watch"})


class Answer(NamedTuple):
    """A good answer. `unsure` says that an earlier try may have been carried out as well."""

    body: bytes
    headers: Any
    unsure: bool


class Uncertain(ClusterError):
    """Refused, after an earlier try that may have been carried out. `error` is the refusal."""

    def __init__(self, error: ApiError) -> None:
        super().__init__(str(error))
        self.error = error


class Wire:
    """The connections to one server. `in_flight` requests are under way; `throttled` counts answers that asked us to slow down."""

    def __init__(self, target: Target, *, user_agent: str, retries: Retries, sink: Sink) -> None:
        self.target, self.retries, self.sink = target, retries, sink
        self.budget = RetryBudget()
        self.requests: Counter[tuple[str, str]] = Counter()
        self.in_flight = self.throttled = 0
        self.answered = False
        self.on_unknown_kind: Callable[[], None] = lambda: None
        self._renewing = asyncio.Lock()
        self._refused: tuple[float, CredentialsError] | None = None
        self._pair: tuple[str, str] | None = None
        self._tls: ssl.SSLContext | bool = True
        headers = {"User-Agent": user_agent, "Accept": JSON} | ({"Accept-Encoding": "identity"} if target.loopback else {})
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60, ttl_dns_cache=60),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=headers,
            proxy=target.proxy or None,
            read_bufsize=2**20,
        )
        self._timeout = aiohttp.ClientTimeout(total=retries.timeout, sock_connect=retries.connect)
        self._stream_timeout = aiohttp.ClientTimeout(total=None, sock_connect=retries.connect, sock_read=retries.stall)

    async def close(self) -> None:
        """Ends all connections."""
        await self._session.close()

    async def call(
        self,
        asked: Asked,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        content_type: str = JSON,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Sends a request, again where that helps. Raises `ClusterError`; `Uncertain` for a refusal after a try of unknown fate."""
        tries = Tries(self.retries, self.budget, asked.harmless, known=self.answered)
        answer = await self._tried(asked, tries, lambda: self._once(asked, method, path, body, content_type, headers))
        return Answer(answer[0], answer[1], tries.unsure)

    async def stream(self, asked: Asked, path: str) -> aiohttp.ClientResponse:
        """Opens a watch. The caller closes the response."""
        tries = Tries(self.retries, self.budget, harmless=True, known=self.answered)
        return await self._tried(asked, tries, lambda: self._open(asked, path))

    async def _tried(self, asked: Asked, tries: Tries, attempt: Callable[[], Awaitable[T]]) -> T:
        """The result of an attempt that is made again where that helps, once of these with renewed credentials."""
        renewed = False
        while True:
            try:
                return await attempt()
            except Unauthorized:
                if renewed or not await self._renew():
                    raise
                renewed = True
            except ClusterError as error:
                await self._wait(tries, error, asked)

    def broken(self, error: BaseException, *, reading: bool = True) -> ClusterError:
        """The error for a connection that broke."""
        return unreachable(error, self.target.server, self.target.said, reading=reading)

    async def _wait(self, tries: Tries, error: ClusterError, asked: Asked) -> None:
        """Waits until the next try; raises the error when there is to be none."""
        before = tries.unsure
        pause = tries.pause(error)
        if isinstance(error, UnknownKind):
            self.on_unknown_kind()
        if pause is None:
            raise (Uncertain(error) if before and isinstance(error, ApiError) and asked.verb in ("create", "delete") else error) from None
        if isinstance(error, TooManyRequests):
            self.throttled += 1
            self.sink(Throttled(pause, self.in_flight))
        else:
            self.sink(Retried(asked.ref, tries.count, str(error)))
        await asyncio.sleep(pause)

    async def _once(
        self, asked: Asked, method: str, path: str, body: bytes | None, content_type: str, headers: dict[str, str] | None
    ) -> tuple[bytes, Any]:
        """One try. Gives the body and the headers of a good answer."""
        said = await self._headers(headers, content_type if body is not None else "")
        self.requests[asked.verb, asked.plural] += 1
        self.in_flight += 1
        try:
            async with self._session.request(
                method,
                URL(self.target.server + path, encoded=True),
                data=body,
                headers=said,
                timeout=self._timeout,
                allow_redirects=False,
                ssl=self._tls,
                server_hostname=self.target.server_name or None,
                middlewares=(_never_twice,) if method == "DELETE" else None,
            ) as response:
                content = await response.read()
        except Breakage as error:
            raise self.broken(error, reading=asked.verb in READS) from None
        finally:
            self.in_flight -= 1
        self.answered = True
        if response.status >= 300:
            raise refusal(response.status, response.headers, content, asked, self.target)
        return content, response.headers

    async def _open(self, asked: Asked, path: str) -> aiohttp.ClientResponse:
        said = await self._headers(None, "")
        self.requests[asked.verb, asked.plural] += 1
        try:
            response = await self._session.get(
                URL(self.target.server + path, encoded=True),
                headers=said,
                timeout=self._stream_timeout,
                allow_redirects=False,
                ssl=self._tls,
                server_hostname=self.target.server_name or None,
            )
            if response.status < 300:
                self.answered = True
                return response
            async with response:
                content = await response.read()
        except Breakage as error:
            raise self.broken(error) from None
        raise refusal(response.status, response.headers, content, asked, self.target)

    async def _headers(self, more: dict[str, str] | None, content_type: str) -> dict[str, str]:
        """The headers of a request, with credentials that hold now."""
        credentials = self.target.credentials
        if credentials.due():
            await self._renew()
        if self._pair != credentials.pair:
            self._trust()
        headers = {"Authorization": authorization} if (authorization := credentials.authorization()) else {}
        if content_type:
            headers["Content-Type"] = content_type
        return headers | more if more else headers

    def _trust(self) -> None:
        """Prepares TLS; again whenever the client certificate is another one."""
        self._pair = self.target.credentials.pair
        if self.target.encrypted:
            self._tls = trust(self.target, *self._pair)

    async def _renew(self) -> bool:
        """Gets new credentials, once for all who wait for them. Says whether it is worth trying again."""
        credentials = self.target.credentials
        before = credentials.authorization(), credentials.pair
        async with self._renewing:
            if (credentials.authorization(), credentials.pair) != before:
                return True
            if self._refused and time.monotonic() - self._refused[0] < REFUSED_LIFE:
                raise self._refused[1]
            try:
                return await credentials.renew()
            except CredentialsError as error:
                self._refused = time.monotonic(), error
                raise


async def _never_twice(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Keeps aiohttp from repeating a delete by itself, which would make "not found" out of one that worked."""
    try:
        return await send(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        if isinstance(error, aiohttp.ClientConnectorError):
            raise
        raise Broken from error
