"""Manifests at URLs."""

from __future__ import annotations

import io
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from grove_cli.errors import UnreadableInput
from grove_cli.reading import urls
from grove_cli.reading.files import read_all
from grove_cli.reading.urls import NotFetched, fetch, shown

from ..running import ROOT, run

MINIMAL = (ROOT / "examples" / "minimal.yaml").read_bytes()


class Server(ThreadingHTTPServer):
    """Answers by path; `heard` are the paths and Authorization headers that came."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.heard: list[tuple[str, str | None]] = []
        self.elsewhere = ""
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.heard.append((self.path, self.headers["Authorization"]))
        path = self.path.partition("?")[0]
        if path == "/moved":
            self.send_response(302)
            self.send_header("Location", f"{self.server.elsewhere}/minimal.yaml")
            self.end_headers()
        elif path in ("/minimal.yaml", "/slow.yaml"):
            self.send_response(200)
            self.end_headers()
            self._send(slowly=path == "/slow.yaml")
        else:
            self.send_error(404)

    def _send(self, *, slowly: bool) -> None:
        for piece in [b"# slow\n"] * 100 if slowly else [MINIMAL]:
            self.wfile.write(piece)
            time.sleep(0.02 if slowly else 0)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def other() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_manifest_at_a_url_is_compiled_as_a_file_is(server: Server) -> None:
    ended = run("compile", f"{server.url}/minimal.yaml", "-o", "name")
    assert (ended.code, ended.out) == (0, run("compile", "-", "-o", "name", stdin=MINIMAL).out)


def test_what_is_wrong_is_named_by_the_url_without_its_secrets(server: Server) -> None:
    host = server.url.removeprefix("http://")
    ended = run("lint", f"http://me:hunter2@{host}/none.yaml?token=hunter2")
    assert (ended.code, ended.err) == (2, f"grove: {server.url}/none.yaml: the server answers 404 Not Found\n")


def test_a_password_goes_to_whom_it_is_for(server: Server, other: Server) -> None:
    server.elsewhere = other.url
    host = server.url.removeprefix("http://")
    assert fetch(f"http://me:p%40ss@{host}/moved", 1 << 20) == MINIMAL
    assert server.heard == [("/moved", "Basic bWU6cEBzcw==")]
    assert other.heard == [("/minimal.yaml", None)]


def test_a_file_that_is_too_large_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grove_cli.reading.files.MAX_FILE", 10)
    with pytest.raises(UnreadableInput, match=r"minimal.yaml: larger than 0 MiB"):
        read_all([f"{server.url}/minimal.yaml"])


def test_a_server_that_sends_a_little_now_and_then_is_not_waited_for(server: Server) -> None:
    with pytest.raises(NotFetched, match="it timed out"):
        fetch(f"{server.url}/slow.yaml", 1 << 20, seconds=0.1)


def test_a_server_that_is_away_is_said() -> None:
    with pytest.raises(UnreadableInput, match=r"^http://127.0.0.1:1/a.yaml: connection refused$"):
        read_all(["http://127.0.0.1:1/a.yaml"])


@pytest.mark.parametrize("there", ["http://elsewhere/a", "ftp://elsewhere/a", "file:///etc/passwd"])
def test_a_redirect_may_not_leave_the_encryption(there: str) -> None:
    with pytest.raises(NotFetched, match="which is not encrypted"):
        urls._Redirects().redirect_request(
            urllib.request.Request("https://here/a"),
            io.BytesIO(),
            302,
            "Found",
            HTTPMessage(),
            there,
        )


def test_a_url_is_shown_without_user_query_and_fragment() -> None:
    assert shown("https://me:pw@host:8443/a/b.yaml?sig=secret#x") == "https://host:8443/a/b.yaml"
