"""Times in tokens, certificates and answers."""

from __future__ import annotations

import base64
import datetime
import json
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.errors import Unauthorized
from applier.transport.clocks import certificate_times, skew, token_times, why_not_now
from applier.transport.login.credentials import Fixed
from applier.transport.login.target import Target
from applier.transport.refusals import refusal
from applier.transport.retries import ApiRequest
from tests.suite.rows import rows

from .certificates import authority, needs_openssl, signed

NOW = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
HOUR = datetime.timedelta(hours=1)


def token(**claims: float) -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "none"}, claims)]
    return f"Bearer {parts[0]}.{parts[1]}.signature"


def test_a_web_token_says_when_it_holds() -> None:
    assert token_times(token(nbf=NOW.timestamp(), exp=(NOW + HOUR).timestamp())) == (NOW, NOW + HOUR)


@given(st.text())
def test_a_token_of_any_other_kind_says_nothing(text: str) -> None:
    if text.count(".") != 2:
        assert token_times(f"Bearer {text}") == (None, None)


ODD = ["", "a.b.c", "..", "a.!!.c", token(exp=1e300), f"x.{base64.urlsafe_b64encode(b'[1]').decode()}.y"]


@rows("header", ODD)
def test_a_token_that_cannot_be_read_has_no_end(header: str) -> None:
    assert token_times(header)[1] is None


@needs_openssl
def test_a_certificate_says_when_it_holds(tmp_path: Path) -> None:
    begins, ends = certificate_times(signed(authority(tmp_path), "client", days=30).pem[0])
    assert begins is not None
    assert ends == begins + datetime.timedelta(days=30)


@pytest.mark.parametrize("pem", ["", "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----"])
def test_what_is_no_certificate_says_nothing(pem: str) -> None:
    assert certificate_times(pem) == (None, None)


TIMES = {
    "holds now": ((NOW - HOUR, NOW + HOUR), ""),
    "has no times": ((None, None), ""),
    "begins later": ((NOW + HOUR, None), "it is valid only from"),
    "has ended": ((None, NOW - HOUR), "it ended at"),
}


@pytest.mark.parametrize("case", TIMES.values(), ids=TIMES)
def test_what_does_not_hold_now_is_said(case: tuple[tuple[datetime.datetime | None, datetime.datetime | None], str]) -> None:
    times, says = case
    said = why_not_now("it", times, NOW)
    assert said.startswith(says)
    assert bool(said) == bool(says)


CLOCKS = {
    "they agree": (NOW, ""),
    "ours is ahead": (NOW - HOUR, "this machine's clock is 3600 s ahead of the server's"),
    "ours is behind": (NOW + HOUR, "this machine's clock is 3600 s behind the server's"),
}


@pytest.mark.parametrize("case", CLOCKS.values(), ids=CLOCKS)
def test_clocks_that_differ_are_said(case: tuple[datetime.datetime, str]) -> None:
    theirs, says = case
    assert skew({"Date": format_datetime(theirs, usegmt=True)}, NOW) == says


def test_a_server_that_does_not_say_its_time_is_not_suspected() -> None:
    assert skew({}, NOW) == skew({"Date": "soon"}, NOW) == ""


def unauthorized(header: str, date: datetime.datetime = NOW) -> str:
    target = Target("https://s", Fixed(header), label="context 'c'")
    error = refusal(401, {"Date": format_datetime(date, usegmt=True)}, b"", ApiRequest("get", "configmaps"), target)
    assert isinstance(error, Unauthorized)
    return str(error)


REFUSED = {
    "a token that has ended": (unauthorized(token(exp=(NOW - HOUR).timestamp())), "the token ended at"),
    "a token of tomorrow": (unauthorized(token(nbf=(NOW + HOUR).timestamp())), "the token is valid only from"),
    "a clock that is wrong": (unauthorized("Bearer x", NOW - HOUR), "ahead of the server's"),
    "no credentials": (unauthorized(""), "there are none"),
    "nothing to see": (unauthorized("Bearer x"), "log in again, or renew them"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused_credentials_come_with_what_may_be_wrong(case: tuple[str, str]) -> None:
    said, says = case
    assert said.startswith("the server does not accept the credentials of context 'c': ")
    assert says in said
