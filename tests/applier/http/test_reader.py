"""Bytes become answers, whatever the pieces in which they come."""

from __future__ import annotations

import gzip
import zlib
from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.http import Malformed
from applier.http.connection import Reader
from tests.suite.rows import rows

BODY = b'{"kind":"Status"}' * 50


class Case(NamedTuple):
    """Bytes of one answer, and what they mean. `ends` says that the server ends the connection after them."""

    given: bytes
    status: int
    body: bytes
    keeps: bool = True
    ends: bool = False


def answer(*headers: str, body: bytes = b"", status: str = "200 OK", version: str = "1.1") -> bytes:
    return "\r\n".join([f"HTTP/{version} {status}", *headers, "", ""]).encode() + body


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (*pieces, b""))


def sized(body: bytes, *headers: str) -> bytes:
    return answer(f"Content-Length: {len(body)}", *headers, body=body)


CHUNKED = "Transfer-Encoding: chunked"
CASES = {
    "with a length": Case(sized(BODY), 200, BODY),
    "empty": Case(sized(b""), 200, b""),
    "no content": Case(answer(status="204 No Content"), 204, b""),
    "in chunks": Case(answer(CHUNKED, body=chunked(b"a" * 3, b"b" * 300)), 200, b"a" * 3 + b"b" * 300),
    "with a trailer": Case(answer(CHUNKED, body=b"2\r\nok\r\n0\r\nChecksum: 1\r\n\r\n"), 200, b"ok"),
    "compressed": Case(sized(gzip.compress(BODY), "Content-Encoding: gzip"), 200, BODY),
    "deflated": Case(sized(zlib.compress(BODY), "Content-Encoding: deflate"), 200, BODY),
    "compressed, in chunks": Case(answer(CHUNKED, "Content-Encoding: gzip", body=chunked(gzip.compress(BODY))), 200, BODY),
    "compressed, and nothing in it": Case(answer("Content-Encoding: gzip", status="304 Not Modified"), 304, b""),
    "after an interim answer": Case(answer(status="100 Continue") + sized(b"ok"), 200, b"ok"),
    "after hints": Case(answer("Link: </a>", status="103 Early Hints") + sized(b"ok"), 200, b"ok"),
    "the last of its connection": Case(sized(b"ok", "Connection: close"), 200, b"ok", keeps=False),
    "of an old proxy": Case(answer("Content-Length: 2", body=b"ok", version="1.0"), 200, b"ok", keeps=False),
    "until the end of the connection": Case(answer(body=b"to the end"), 200, b"to the end", keeps=False, ends=True),
    "a refusal": Case(sized(b"", "Retry-After: 1").replace(b"200 OK", b"429 Too Many Requests"), 429, b""),
}


@given(name=st.sampled_from(sorted(CASES)), cuts=st.lists(st.integers(0, 2000), max_size=8))
def test_pieces_of_any_size_make_the_same_answer(name: str, cuts: list[int]) -> None:
    case, reader = CASES[name], Reader()
    edges = [0, *sorted(min(cut, len(case.given)) for cut in cuts), len(case.given)]
    for start, stop in pairwise(edges):
        reader.feed(case.given[start:stop])
    assert (reader.end() if case.ends else reader.complete) is True
    assert (reader.status, reader.take(), reader.keeps, reader.excess) == (case.status, case.body, case.keeps, False)


@given(order=st.lists(st.sampled_from(sorted(name for name, case in CASES.items() if case.keeps)), max_size=5))
def test_one_connection_carries_any_answers_in_turn(order: list[str]) -> None:
    reader = Reader()
    for name in order:
        reader.expect()
        reader.feed(CASES[name].given)
        assert (reader.complete, reader.status, reader.take()) == (True, CASES[name].status, CASES[name].body)


@given(cut=st.integers(1, len(CASES["compressed"].given) - 1))
def test_a_part_of_an_answer_is_not_complete(cut: int) -> None:
    reader = Reader()
    reader.feed(CASES["compressed"].given[:cut])
    assert not reader.end()


def test_headers_are_found_by_their_name_in_any_case() -> None:
    reader = Reader()
    reader.feed(sized(b"", "retry-AFTER: 7", 'Warning: 299 - "one"', 'warning: 299 - "two"'))
    assert reader.headers["Retry-After"] == "7"
    assert reader.headers.all("Warning") == ['299 - "one"', '299 - "two"']
    assert "Date" not in reader.headers
    assert list(reader.headers) == ["content-length", "retry-after", "warning"]
    assert len(reader.headers) == 3


@pytest.mark.parametrize(("text", "encoding"), [("cut…", "utf-8"), ("Zoë", "latin-1")])
def test_a_header_says_what_the_server_wrote(text: str, encoding: str) -> None:
    reader = Reader()
    reader.feed(sized(b"", "Warning: ?").replace(b"?", text.encode(encoding)))
    assert reader.headers["Warning"] == reader.headers.all("Warning")[0] == text


def test_an_answer_that_nobody_asked_for_is_noticed() -> None:
    reader = Reader()
    reader.feed(sized(b"ok") + sized(b"more"))
    assert (reader.complete, reader.excess, reader.take()) == (True, True, b"ok")


MALFORMED = {
    "another protocol": (b"SSH-2.0-OpenSSH_9.6\r\n", "HTTP/"),
    "a length that is none": (answer("Content-Length: two", body=b"ok"), "Content-Length"),
    "two lengths": (answer("Content-Length: 2", "Content-Length: 3", body=b"ok"), "Content-Length"),
    "a length beside chunks": (answer("Content-Length: 2", CHUNKED, body=b"2\r\nok\r\n0\r\n\r\n"), "Content-Length"),
    "a chunk without a size": (answer(CHUNKED, body=b"zz\r\nok\r\n"), "chunk size"),
    "garbage instead of gzip": (sized(b"not compressed", "Content-Encoding: gzip"), "incorrect header check"),
    "gzip that is cut off": (sized(gzip.compress(BODY)[:-9], "Content-Encoding: gzip"), "truncated"),
    "an encoding that nobody asked for": (sized(b"ok", "Content-Encoding: br"), "encoding br"),
    "a switch of protocols": (answer("Connection: Upgrade", "Upgrade: h2c", status="101 Switching Protocols"), "another protocol"),
}


@rows("name", MALFORMED)
def test_what_is_not_http_is_said(name: str) -> None:
    given, says = MALFORMED[name]
    with pytest.raises(Malformed, match=says):
        Reader().feed(given)


@given(st.binary(max_size=200))
def test_no_bytes_whatever_raise_anything_else(noise: bytes) -> None:
    for sent in (noise, sized(b"ok") + noise, answer(CHUNKED) + noise):
        try:
            Reader().feed(sent)
        except Malformed as error:
            assert str(error)
