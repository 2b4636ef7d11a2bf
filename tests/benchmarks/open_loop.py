"""Asks an HTTPS server at a rate, whether it answers or not, and takes each answer's time from when its question was due.

It has to cost less than what it measures, so it is one loop over sockets that are kept open: no client library, no event loop.
"""

from __future__ import annotations

import gc
import select
import socket
import ssl
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

CONNECTIONS = 32
"""Kept open; a question that finds all of them busy waits, and that counts as the server's time."""
DOZE = 0.001
"""Seconds before the next question in which it sleeps no more: the system wakes nobody more exactly."""
STUCK = 60.0


class Asked(NamedTuple):
    """Milliseconds until each answer, and by which the asker itself was late with each question; both in order, the least first."""

    taken: list[float]
    late: list[float]


def p99(values: Sequence[float]) -> float:
    """Returns what 99 of 100 are at most, of values in order."""
    return values[min(len(values) * 99 // 100, len(values) - 1)]


def request(path: str, body: bytes) -> bytes:
    """Returns a POST of JSON, as it goes over the wire."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def ask(port: int, requests: Sequence[bytes], rate: int, total: int, expected: bytes) -> Asked:
    """Sends so many of these requests in turn, `rate` a second. Raises `RuntimeError` for an answer without the `expected` bytes."""
    with _connections(port) as (poll, open), _no_collection():
        idle, due, taken, late = deque(open.values()), deque[float](), list[float](), list[float]()
        begun, asked = time.perf_counter() + 0.01, 0
        while len(taken) < total:
            now = time.perf_counter()
            while asked < total and begun + asked / rate <= now:
                due.append(begun + asked / rate)
                late.append((now - due[-1]) * 1000)
                asked += 1
            while due and idle:
                idle.popleft().send(requests[(asked - len(due)) % len(requests)], due.popleft())
            ahead = begun + asked / rate - time.perf_counter() if asked < total else STUCK
            ready = poll.poll(max(0.0, ahead - DOZE))
            if not ready and ahead == STUCK:
                raise RuntimeError(f"the server has answered nothing for {STUCK:.0f} s")
            for descriptor, _ in ready:
                one = open[descriptor]
                if one.has_answered(expected):
                    taken.append((time.perf_counter() - one.due) * 1000)
                    idle.append(one)
        return Asked(sorted(taken), sorted(late))


class _Connection:
    """A connection that is kept: one question after the other."""

    def __init__(self, port: int) -> None:
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        plain = socket.create_connection(("127.0.0.1", port))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = tls.wrap_socket(plain, server_hostname="localhost")
        self.socket.setblocking(False)
        self.due = 0.0
        self._answer = b""

    def send(self, text: bytes, due: float) -> None:
        """Asks. A few kilobytes always fit into what the system keeps for a socket."""
        self.due, self._answer = due, b""
        if self.socket.send(text) != len(text):
            raise RuntimeError("a request is too large to be sent at once")

    def has_answered(self, expected: bytes) -> bool:
        """Reads what has come, and tells whether that is all of it."""
        try:
            while piece := self.socket.recv(1 << 16):
                self._answer += piece
            raise RuntimeError("the server has closed a connection")
        except (ssl.SSLWantReadError, BlockingIOError):
            pass
        head, end, body = self._answer.partition(b"\r\n\r\n")
        if not end or len(body) < _length(head):
            return False
        if not head.startswith(b"HTTP/1.1 200 ") or expected not in body:
            raise RuntimeError(f"a wrong answer: {self._answer[:500].decode(errors='replace')}")
        return True


def _length(head: bytes) -> int:
    _, found, rest = head.lower().partition(b"\r\ncontent-length:")
    if not found:
        raise RuntimeError("an answer without a length")
    return int(rest.partition(b"\r\n")[0])


@contextmanager
def _connections(port: int) -> Iterator[tuple[select.epoll, dict[int, _Connection]]]:
    poll, open = select.epoll(), {}
    try:
        for _ in range(CONNECTIONS):
            one = _Connection(port)
            open[one.socket.fileno()] = one
            poll.register(one.socket.fileno(), select.EPOLLIN)
        yield poll, open
    finally:
        for one in open.values():
            one.socket.close()
        poll.close()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keeps the collector from running, which would count as the server's time."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
