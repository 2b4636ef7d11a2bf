"""Converts the error responses of a server, mostly Status objects, to errors with a message of one line."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from applier.errors import (
    AlreadyExists,
    ApiError,
    Cause,
    ClusterError,
    Expired,
    FieldConflict,
    Forbidden,
    Invalid,
    NotFound,
    ServerFailure,
    TooManyRequests,
    Unauthorized,
    UnknownKind,
    Unreachable,
    WriteConflict,
)
from applier.transport.error_messages import ServerRefusal, hide_values, missing_right, sentence
from applier.transport.server_clock import date_of

if TYPE_CHECKING:
    from applier.transport.login.target import Target
    from applier.transport.retries import ApiRequest

WRONG_ADDRESS = "is the address that of a Kubernetes API server?"
DENIED = re.compile(r"admission webhook .* denied the request|ValidatingAdmissionPolicy .* denied request", re.S)
TYPED = re.compile(r"failed to create typed (patch|live) object|field not declared in schema|unable to (decode|convert)", re.S)
MAX_PAUSE = 30.0
"""The longest wait, in seconds, for a server that asks to retry later. A busy server asks for a few seconds; an hour is a gateway's
mistake, and would hold back all other writes for as long."""
TOO_LARGE = ("request is too large", "Request entity too large", "trying to send message larger than max")


def refusal(status: int, headers: Mapping[str, str], body: bytes, request: ApiRequest, target: Target) -> ClusterError:
    """Returns the error for an unsuccessful response. `body` is a Status object, or the text of a proxy in between."""
    given = _status_object(body)
    message = str(given.get("message") or "").strip() or (_plain(body) if not given else "") or f"HTTP status {status}"
    reason = str(given.get("reason") or "")
    rest = given.get("details")
    details: dict[str, Any] = rest if isinstance(rest, dict) else {}
    causes = _causes(details, request)
    if status == 400 and "HTTP request to an HTTPS server" in message:
        return Unreachable(f"{target.server} uses TLS; should the address begin with https:// ?", passing=False)
    if 300 <= status < 400:
        there = f" to {where}" if (where := headers.get("Location", "").partition("?")[0]) else ""  # a query may hold secrets
        return ApiError(status, "Redirect", f"{target.server} redirects us{there}, like a login page or a proxy; {WRONG_ADDRESS}")
    error_type = _type(status, reason, message, causes)
    if error_type is NotFound and _no_such_kind(message, given, details):
        return UnknownKind(f"the server does not serve {request.plural}; is its definition installed, in this version?")
    text = sentence(ServerRefusal(error_type, status, message, causes, details, request, target, headers))
    rest = {key: value for key, value in details.items() if key != "causes"}
    if error_type is Forbidden and (missing := missing_right(message)):
        rest["missing"] = missing
    retry_after = _retry_after(headers, details)
    if retry_after is not None and retry_after > MAX_PAUSE:
        text = f"{text}; it asks to retry in {retry_after:.0f} s, and is retried every {MAX_PAUSE:.0f} s for a while"
        retry_after = MAX_PAUSE
    return error_type(status, reason, text, causes, retry_after, rest)


def status_error(given: dict[str, Any], request: ApiRequest, target: Target) -> ClusterError:
    """Returns the error for a Status object in a watch."""
    code = given.get("code")
    return refusal(code if isinstance(code, int) else 500, {}, orjson.dumps(given), request, target)


def _status_object(body: bytes) -> dict[str, Any]:
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return given if isinstance(given, dict) and given.get("kind") == "Status" else {}


def _plain(body: bytes) -> str:
    """Returns the text of a body that is no Status object, such as a proxy's error page, without markup."""
    text = re.sub(r"<[^>]*>", " ", body[:4096].decode("utf-8", "replace"))
    return " ".join(text.split())[:300]


def _causes(details: dict[str, Any], request: ApiRequest) -> tuple[Cause, ...]:
    given = details.get("causes")
    rows = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    texts = ((str(row.get("reason", "")), str(row.get("field", "")), str(row.get("message", ""))) for row in rows)
    return tuple(Cause(reason, field, hide_values(message, request)) for reason, field, message in texts)


def _type(status: int, reason: str, message: str, causes: tuple[Cause, ...]) -> type[ApiError]:
    """Returns the error class of a rejection. The message comes first, since a webhook chooses its own status."""
    if DENIED.search(message):
        return Forbidden
    if any(words in message for words in TOO_LARGE) or status == 413 or (status >= 400 and TYPED.search(message)):
        return Invalid
    if status == 409:
        return _conflict(reason, causes)
    if status >= 500:
        return ServerFailure
    simple = {400: Invalid, 401: Unauthorized, 403: Forbidden, 404: NotFound, 410: Expired, 422: Invalid, 429: TooManyRequests}
    return simple.get(status, Invalid if 405 <= status < 500 else ApiError)


def _conflict(reason: str, causes: tuple[Cause, ...]) -> type[ApiError]:
    if reason == "AlreadyExists":
        return AlreadyExists
    return FieldConflict if any(cause.reason == "FieldManagerConflict" for cause in causes) else WriteConflict


def _no_such_kind(message: str, given: dict[str, Any], details: dict[str, Any]) -> bool:
    """Reports whether a 404 means a missing kind, for which there are no details or no Status object at all, and not a missing object."""
    return not given or (not details.get("name") and "could not find the requested resource" in message)


def _retry_after(headers: Mapping[str, str], details: dict[str, Any]) -> float | None:
    """Returns the seconds to wait, from the header (a number or a date, RFC 9110 section 10.2.3) or from the Status object."""
    header = headers.get("Retry-After", "")
    if not header:
        seconds = details.get("retryAfterSeconds")
        return float(seconds) if isinstance(seconds, int | float) and seconds else None
    if header.strip().isdigit():
        return float(header)
    until = date_of(header)
    return None if until is None else max(0.0, until - (date_of(headers.get("Date") or "") or time.time()))
