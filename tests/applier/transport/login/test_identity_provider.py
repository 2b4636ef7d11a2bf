"""OpenID Connect: tokens of the kubeconfig, refreshed at the issuer, and kept where they were."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterator
from http.client import BadStatusLine
from pathlib import Path
from typing import Any

import pytest
import yaml

from applier.errors import CredentialsError
from applier.transport.login.kubeconfig import choose, read
from applier.transport.login.oidc import IdentityProvider
from applier.transport.login.plugins import Granted

from ..certificates import Pair, needs_openssl, signed
from ..scripted import raised
from .issuer import CLIENT, METADATA, Issuer, issuing
from .test_kubeconfig import write

pytestmark = needs_openssl


@pytest.fixture(scope="module")
def running(ca: Pair) -> Iterator[Issuer]:
    with issuing(ca.certificate.parent, signed(ca, "issuer")) as issuer:
        yield issuer


@pytest.fixture
def issuer(running: Issuer) -> Issuer:
    running.asked.clear()
    running.answers.clear()
    running.refresh_token, running.rotates = "refresh-0", True
    return running


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def log_in(issuer: Issuer, ca: Pair, config: Path) -> Callable[..., IdentityProvider]:
    """The provider of a kubeconfig that is written with some settings."""

    def make(**more: str) -> IdentityProvider:
        trusted = {"idp-certificate-authority": str(ca.certificate)}
        write(config, "one", user=issuer.config(**trusted | more))
        return provider(config)

    return make


def provider(config: Path) -> IdentityProvider:
    return IdentityProvider(choose(read([config]), ""))


def kept(config: Path) -> dict[str, str]:
    """What the kubeconfig says now."""
    return dict(yaml.load(config.read_text(), yaml.CSafeLoader)["users"][0]["user"]["auth-provider"]["config"])


LogIn = Callable[..., IdentityProvider]


async def test_a_token_is_used_while_it_holds(log_in: LogIn, issuer: Issuer) -> None:
    token = issuer.token(3600)
    granted = await log_in(**{"id-token": token}).token()
    assert (granted.header, issuer.asked) == (f"Bearer {token}", [])


async def test_a_token_says_when_it_ends(log_in: LogIn, issuer: Issuer) -> None:
    granted = await log_in(**{"id-token": issuer.token(3600, exp=2_000_000_000)}).token()
    assert granted.until is not None
    assert granted.until.timestamp() == 2_000_000_000


OLD: dict[str, Callable[[Issuer], dict[str, str]]] = {
    "one that has ended": lambda issuer: {"id-token": issuer.token(-60)},
    "one that ends now": lambda issuer: {"id-token": issuer.token(5)},
    "none": lambda issuer: {},
    "one that is none": lambda issuer: {"id-token": "none"},
}


@pytest.mark.parametrize("old", OLD.values(), ids=OLD)
async def test_an_old_token_is_refreshed(old: Callable[[Issuer], dict[str, str]], log_in: LogIn, issuer: Issuer, config: Path) -> None:
    granted = await log_in(**old(issuer)).token()
    assert granted.header == f"Bearer {kept(config)['id-token']}"
    assert [asked.form["refresh_token"] for asked in issuer.asked] == ["refresh-0"]


async def test_a_token_that_was_refused_is_refreshed(log_in: LogIn, issuer: Issuer) -> None:
    login = log_in(**{"id-token": issuer.token(3600)})
    first, second = await login.token(), await login.token()
    assert first.header != second.header


async def test_a_refresh_token_that_was_replaced_is_kept_for_the_next_program(log_in: LogIn, issuer: Issuer, config: Path) -> None:
    await log_in().token()
    assert kept(config)["refresh-token"] == "refresh-1"
    following = provider(config)
    await following.token()
    await following.token()
    assert [asked.form["refresh_token"] for asked in issuer.asked] == ["refresh-0", "refresh-1"]


async def test_programs_that_refresh_at_once_share_the_answer(log_in: LogIn, issuer: Issuer, config: Path) -> None:
    logins = [log_in(), *(provider(config) for _ in range(7))]
    granted = await asyncio.gather(*(login.token() for login in logins))
    assert ({one.header for one in granted}, len(issuer.asked)) == ({f"Bearer {kept(config)['id-token']}"}, 1)


async def test_a_token_that_another_program_got_is_taken(log_in: LogIn, issuer: Issuer, config: Path) -> None:
    login = log_in(**{"id-token": issuer.token(-60)})
    await provider(config).token()
    await login.token()
    await login.token()
    assert [asked.form["refresh_token"] for asked in issuer.asked] == ["refresh-0", "refresh-1"]


async def test_an_issuer_may_leave_the_refresh_token_as_it_is(log_in: LogIn, issuer: Issuer, config: Path) -> None:
    issuer.rotates = False
    login = log_in()
    await login.token()
    await login.token()
    assert (len(issuer.asked), kept(config)["refresh-token"]) == (2, "refresh-0")


async def test_a_client_with_a_secret_proves_itself(log_in: LogIn, issuer: Issuer) -> None:
    await log_in(**{"client-secret": "s e/c"}).token()
    asked = issuer.asked[0]
    assert (base64.b64decode(asked.authorization.removeprefix("Basic ")), "client_id" in asked.form) == (b"grove:s+e%2Fc", False)


async def test_a_client_without_a_secret_says_its_name(log_in: LogIn, issuer: Issuer) -> None:
    await log_in().token()
    assert (issuer.asked[0].authorization, issuer.asked[0].form["client_id"]) == ("", CLIENT)


async def test_the_authority_may_be_in_the_kubeconfig(log_in: LogIn, issuer: Issuer, ca: Pair) -> None:
    data = base64.b64encode(ca.certificate.read_bytes()).decode()
    await log_in(**{"idp-certificate-authority": "", "idp-certificate-authority-data": data}).token()
    assert len(issuer.asked) == 1


async def test_an_issuer_whose_certificate_nobody_trusts_is_told_nothing(log_in: LogIn, issuer: Issuer) -> None:
    error = await raised(log_in(**{"idp-certificate-authority": ""}).token)
    assert "its certificate is not trusted" in str(error)
    assert "set idp-certificate-authority" in str(error)
    assert issuer.asked == []


async def test_a_redirect_takes_no_secret_elsewhere(log_in: LogIn, issuer: Issuer) -> None:
    issuer.answers["/token"] = 307, f"{issuer.url}/elsewhere"
    error = await raised(log_in(**{"client-secret": "hunter2"}).token)
    assert "/token refused (307)" in str(error)
    assert len(issuer.asked) == 1


async def test_a_moved_description_is_followed(log_in: LogIn, issuer: Issuer) -> None:
    issuer.answers["/moved"] = issuer.get(METADATA)
    issuer.answers[METADATA] = 301, f"{issuer.url}/moved"
    await log_in().token()
    assert len(issuer.asked) == 1


Serve = Callable[[Issuer], None]


def serving(path: str, status: int, body: Any) -> Serve:
    return lambda issuer: issuer.answers.update({path: (status, body)})


def nothing(issuer: Issuer) -> None:
    """The issuer as it is."""


Failing = tuple[Serve, dict[str, str], str]
FAILING: dict[str, Failing] = {
    "a refresh token that is used up": (
        nothing,
        {"refresh-token": "hunter2"},
        "/token refused (400): invalid_grant: refresh token is used up; log in again",
    ),
    "no refresh token": (nothing, {"refresh-token": ""}, "has no refresh-token, and its id-token has expired or is rejected; log in again"),
    "no issuer": (nothing, {"idp-issuer-url": ""}, "has no idp-issuer-url"),
    "no client": (nothing, {"client-id": ""}, "has no client-id"),
    "an issuer that is not encrypted": (nothing, {"idp-issuer-url": "http://127.0.0.1"}, "http://127.0.0.1; it begins with https://"),
    "an issuer that is away": (nothing, {"idp-issuer-url": "https://127.0.0.1:1"}, "cannot reach https://127.0.0.1:1/.well-known/openid-"),
    "an authority that is none": (
        nothing,
        {"idp-certificate-authority-data": "eA=="},
        "an idp-certificate-authority that is not a certificate",
    ),
    "an authority that is away": (nothing, {"idp-certificate-authority": "ca"}, "cannot read the idp-certificate-authority of"),
    "no description": (serving(METADATA, 404, "no"), {}, "openid-configuration refused (404); is idp-issuer-url correct?"),
    "a description that is none": (serving(METADATA, 200, "<html>"), {}, "did not answer with JSON; is idp-issuer-url correct?"),
    "a description without an endpoint": (serving(METADATA, 200, {"issuer": "x"}), {}, "returns no token_endpoint with https://"),
    "an endpoint that is not encrypted": (
        serving(METADATA, 200, {"token_endpoint": "http://x"}),
        {},
        "returns no token_endpoint with https",
    ),
    "no ID token": (serving("/token", 200, {"access_token": "hunter2"}), {}, "returned no id_token; was the scope openid requested"),
    "a token that is none": (serving("/token", 200, {"id_token": "a\nb"}), {}, "has spaces, line breaks or other characters"),
    "a server that failed": (serving("/token", 500, "<html>hunter2"), {}, "/token refused (500); log in again"),
}


@pytest.mark.parametrize("case", FAILING.values(), ids=FAILING)
async def test_what_goes_wrong_is_one_sentence_without_secrets(
    case: tuple[Serve, dict[str, str], str], log_in: LogIn, issuer: Issuer
) -> None:
    serve, more, says = case
    serve(issuer)
    error = await raised(log_in(**{"client-secret": "hunter2"} | more).token)
    assert isinstance(error, CredentialsError)
    assert says in str(error)
    assert not {"hunter2", "refresh-0", "\n"} & {*str(error).split(), *str(error)}
    assert "hunter2" not in str(error)


class Babbling:
    """Something that listens and does not speak HTTP."""

    def open(self, *arguments: Any, **more: Any) -> None:
        raise BadStatusLine("220 smtp")


async def test_an_issuer_that_does_not_speak_http_is_said(log_in: LogIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("applier.transport.login.oidc._opener", lambda tls: Babbling())
    error = await raised(log_in().token)
    assert isinstance(error, CredentialsError)
    assert str(error).endswith("/.well-known/openid-configuration: 220 smtp")


async def test_a_used_up_refresh_token_that_cannot_be_replaced_is_said(log_in: LogIn, config: Path) -> None:
    login = log_in()
    config.unlink()
    error = await raised(login.token)
    assert "cannot save the new tokens in" in str(error)
    assert "the current one is used up, so you have to log in again next time" in str(error)


async def test_after_that_the_new_token_is_used_all_the_same(log_in: LogIn, config: Path, issuer: Issuer) -> None:
    login = log_in()
    config.unlink()
    await raised(login.token)
    assert isinstance(await login.token(), Granted)
    assert len(issuer.asked) == 1


async def test_a_kubeconfig_that_cannot_be_written_does_no_harm_while_the_refresh_token_stays(
    log_in: LogIn, config: Path, issuer: Issuer
) -> None:
    issuer.rotates = False
    login = log_in()
    config.unlink()
    assert (await login.token()).header


@pytest.mark.parametrize("name", ["gcp", "azure", ""])
def test_providers_that_kubectl_dropped_are_said(name: str, config: Path) -> None:
    write(config, "one", user={"auth-provider": {"name": name, "config": {"access-token": "hunter2"}}})
    with pytest.raises(CredentialsError, match="is no longer supported, by kubectl either; use the exec plugin of your provider"):
        provider(config)
