"""Fetches manifests from URLs, as `kubectl apply -f https://…` does, with limits of size and time, and without secrets in errors."""

from __future__ import annotations

import base64
import time
import urllib.error
import urllib.request
from http.client import HTTPException, HTTPMessage, HTTPResponse
from typing import IO
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from grove_compiler.version import __version__

SECONDS = 30.0
"""Seconds for a file, including redirects."""
PIECE = 1 << 16


class NotFetched(Exception):
    """A URL could not be fetched. The message has the reason without the URL."""


def shown(url: str) -> str:
    """Returns a URL for messages, without its user and query, which may be secret."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def fetch(url: str, most: int, seconds: float = SECONDS) -> bytes:
    """Returns the content of an http or https URL, truncated after `most` bytes. Raises `NotFetched`.

    Proxies are those of the environment. A redirect may not lead from https to http, and a password goes to nobody but whom it is for.
    """
    end = time.monotonic() + seconds
    try:
        parts = urlsplit(url)
        request = urllib.request.Request(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl())
        request.add_header("User-Agent", f"grove/{__version__}")
        if parts.username:
            request.add_header("Authorization", _basic(parts))
        with urllib.request.build_opener(_Redirects).open(request, timeout=seconds) as answer:
            return _read(answer, most, end)
    except urllib.error.HTTPError as error:
        raise NotFetched(f"the server answers {error.code} {error.reason}".rstrip()) from None
    except (OSError, ValueError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        text = "it timed out" if isinstance(reason, TimeoutError) else str(getattr(reason, "strerror", None) or reason).lower()
        raise NotFetched(text) from None


def _read(answer: HTTPResponse, most: int, end: float) -> bytes:
    """Reads in pieces: a slow server would otherwise exceed the total time within the timeout of each read."""
    data = b""
    while len(data) <= most and (piece := answer.read1(PIECE)):
        data += piece
        if time.monotonic() > end:
            raise TimeoutError
    return data


def _basic(parts: SplitResult) -> str:
    login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(login.encode()).decode()}"


class _Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        there = urlsplit(urljoin(req.full_url, newurl))
        if req.type == "https" and there.scheme != "https":
            raise NotFetched(f"it redirects to {there.scheme}, which is not encrypted")
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None and there.netloc != req.host:
            request.remove_header("Authorization")
        return request
