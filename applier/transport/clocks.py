"""Reads the validity of tokens and certificates, and the server's clock, to explain rejected credentials."""

from __future__ import annotations

import base64
import binascii
import datetime
import re
import ssl
from collections.abc import Mapping
from itertools import pairwise

import orjson

from applier.transport.server_clock import date_of

TOLERANCE = 60.0  # seconds by which two clocks may differ without a hint

Times = tuple[datetime.datetime | None, datetime.datetime | None]
"""Begin and end of a validity; None if unlimited or unknown."""


def token_times(header: str) -> Times:
    """Returns the validity of a bearer token that is a JSON Web Token. It is not verified: the server does that."""
    parts = header.removeprefix("Bearer ").split(".")
    if len(parts) != 3:
        return None, None
    try:
        claims = orjson.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return _moment(claims.get("nbf")), _moment(claims.get("exp"))
    except (binascii.Error, ValueError, AttributeError):
        return None, None


def _moment(seconds: object) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromtimestamp(float(seconds), datetime.UTC) if isinstance(seconds, int | float) else None
    except (OverflowError, OSError, ValueError):
        return None


TIME = re.compile(rb"\x17\x0d(\d{12})Z|\x18\x0f(\d{14})Z")
"""Matches DER's UTCTime and GeneralizedTime. The first two adjacent ones in a certificate (RFC 5280) are its validity."""


def certificate_times(pem: str) -> Times:
    """Returns the validity of a certificate in PEM form."""
    start, end = pem.find("-----BEGIN CERTIFICATE-----"), pem.find("-----END CERTIFICATE-----")
    if start < 0 or end < 0:
        return None, None
    try:
        der = ssl.PEM_cert_to_DER_cert(pem[start : end + len("-----END CERTIFICATE-----")])
    except (ValueError, binascii.Error):
        return None, None
    times = list(TIME.finditer(der))
    for first, second in pairwise(times):
        if first.end() == second.start():
            return _der_time(first), _der_time(second)
    return None, None


def _der_time(match: re.Match[bytes]) -> datetime.datetime | None:
    text = (match[1] or match[2]).decode()
    if match[1]:  # a year of two digits: 50 to 99 mean 1950 to 1999 (RFC 5280, section 4.1.2.5.1)
        text = ("19" if text >= "5" else "20") + text
    try:
        return datetime.datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=datetime.UTC)
    except ValueError:
        return None


def why_not_now(what: str, times: Times, now: datetime.datetime) -> str:
    """Returns why a token or certificate is not valid now; empty if it is."""
    begins, ends = times
    if begins and now < begins:
        return f"{what} is valid only from {begins:%Y-%m-%d %H:%M:%S} UTC on"
    if ends and now > ends:
        return f"{what} ended at {ends:%Y-%m-%d %H:%M:%S} UTC"
    return ""


def skew(headers: Mapping[str, str], now: datetime.datetime) -> str:
    """Returns a hint if the server's clock differs from ours by more than the tolerance; empty if not."""
    theirs = date_of(headers.get("Date") or "")
    seconds = 0.0 if theirs is None else now.timestamp() - theirs
    if abs(seconds) <= TOLERANCE:
        return ""
    return f"this machine's clock is {abs(seconds):.0f} s {'ahead of' if seconds > 0 else 'behind'} the server's"
