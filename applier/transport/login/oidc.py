"""Refreshes the tokens of an identity provider (OpenID Connect), as kubectl does.

Our own, because the `kubernetes` package asks issuers without checking their certificate, wants a client secret of clients that have none,
and forgets the new refresh token that many issuers give for the old one: after that neither we nor kubectl could log in again.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import Any

from applier.errors import CredentialsError
from applier.transport.clocks import token_times
from applier.transport.login.credentials import bearer
from applier.transport.login.kubeconfig import Chosen, KubeconfigEntry, read
from applier.transport.login.plugins import Granted, utc_now
from applier.transport.login.target import trusting
from applier.transport.login.write_back import alone, write_back

TIMEOUT = 30.0  # seconds for each of the two requests to an issuer
MARGIN = 10.0  # seconds by which clocks may differ; kubectl's
MAX_RESPONSE = 2**20  # bytes of a response that are read


class IdentityProvider:
    """Refreshes the tokens of a context's user at its issuer. Raises `CredentialsError` for an invalid configuration."""

    def __init__(self, chosen: Chosen) -> None:
        given = chosen.user.value["auth-provider"]
        name, config = (given.get("name"), given.get("config")) if isinstance(given, dict) else (None, None)
        self.chosen, self.label = chosen, f"{chosen.label}: its auth-provider {name!r}"
        if name != "oidc":
            raise CredentialsError(f"{self.label} is no longer supported, by kubectl either; use the exec plugin of your provider")
        self.config = KubeconfigEntry(config if isinstance(config, dict) else {}, chosen.user.file, f"the auth-provider of {chosen.label}")
        self.id_token, self.refresh_token = self.config.text("id-token"), self.config.text("refresh-token")
        self.issuer, self.client = self.config.text("idp-issuer-url").rstrip("/"), self.config.text("client-id")
        self._asked = False

    async def token(self) -> Granted:
        """Returns the token of the kubeconfig at first, if it is valid, and afterwards a new one from the issuer.

        Raises `CredentialsError`.
        """
        if self._asked or not self._holds():
            await asyncio.to_thread(self._refresh)
        self._asked = True
        header = bearer(self.id_token, f"the id-token of {self.config.label}")
        return Granted(header, ("", ""), token_times(header)[1])

    def _holds(self) -> bool:
        end = token_times(self.id_token)[1]
        return end is not None and (end - utc_now()).total_seconds() > MARGIN

    def _refresh(self) -> None:
        """Refreshes the tokens, or uses those of another program meanwhile: an issuer may accept each refresh token only once."""
        with alone(self.chosen.user.file):
            if not self._found_newer():
                self._exchange()

    def _found_newer(self) -> bool:
        """Adopts a valid token from the kubeconfig that differs from ours; returns whether there was one."""
        try:
            there = read([self.chosen.user.file]).users.get(self.chosen.user_name)
            other = IdentityProvider(self.chosen._replace(user=there)) if there and "auth-provider" in there.value else self
        except CredentialsError:
            return False
        if other.id_token == self.id_token or not other._holds():
            return False
        self.id_token, self.refresh_token = other.id_token, other.refresh_token
        return True

    def _exchange(self) -> None:
        """Exchanges the refresh token for new tokens, and stores them in the kubeconfig."""
        for key, value in (("idp-issuer-url", self.issuer), ("client-id", self.client), ("refresh-token", self.refresh_token)):
            if not value:
                raise CredentialsError(f"{self.label} has no {key}, and its id-token has expired or is rejected; log in again")
        answer = self._ask(self._token_endpoint(), {"grant_type": "refresh_token", "refresh_token": self.refresh_token})
        token, newer = answer.get("id_token"), answer.get("refresh_token")
        if not isinstance(token, str) or not token:
            raise CredentialsError(f"{self.label}: {self.issuer} returned no id_token; was the scope openid requested at login?")
        old, self.id_token = self.refresh_token, token
        if isinstance(newer, str) and newer:
            self.refresh_token = newer
        self._keep(used_up=old != self.refresh_token)

    def _keep(self, *, used_up: bool) -> None:
        """Writes the tokens to the kubeconfig. A failure is an error only if the old refresh token is used up."""
        try:
            write_back(self.chosen.user.file, self.chosen.user_name, {"id-token": self.id_token, "refresh-token": self.refresh_token})
        except CredentialsError as error:
            if used_up:
                raise CredentialsError(f"{error}; the current one is used up, so you have to log in again next time") from None

    def _token_endpoint(self) -> str:
        """Returns the URL of the token endpoint (OpenID Connect Discovery 1.0, section 4)."""
        endpoint = self._ask(f"{self.issuer}/.well-known/openid-configuration").get("token_endpoint")
        if not isinstance(endpoint, str) or not endpoint.startswith("https://"):
            raise CredentialsError(f"{self.label}: {self.issuer} returns no token_endpoint with https://; is idp-issuer-url correct?")
        return endpoint

    def _ask(self, url: str, form: dict[str, str] | None = None) -> dict[str, Any]:
        """Requests JSON from an issuer; with a form, posts it with the client's credentials."""
        if not url.startswith("https://"):
            raise CredentialsError(f"{self.label} has the idp-issuer-url {self.issuer}; it begins with https://")
        request = urllib.request.Request(url, headers={"Accept": "application/json"})
        if form is not None:
            self._sign(request, form)
        try:
            with _opener(self._trusted()).open(request, timeout=TIMEOUT) as response:
                body = response.read(MAX_RESPONSE)
        except urllib.error.HTTPError as error:
            what = "log in again" if form else "is idp-issuer-url correct?"
            raise CredentialsError(f"{self.label}: {_place(url)} refused ({error.code}){_reason(error)}; {what}") from None
        except (OSError, ValueError, HTTPException) as error:
            cause = getattr(error, "reason", None) or error
            raise CredentialsError(f"{self.label}: cannot reach {_place(url)}: {_words(cause)}") from None
        answer = _json(body)
        if not answer:
            raise CredentialsError(f"{self.label}: {_place(url)} did not answer with JSON; is idp-issuer-url correct?")
        return answer

    def _sign(self, request: urllib.request.Request, form: dict[str, str]) -> None:
        """Authenticates the client (RFC 6749, section 2.3.1) by id and secret, or by its id alone without a secret."""
        secret = self.config.text("client-secret")
        if secret:
            pair = f"{urllib.parse.quote_plus(self.client)}:{urllib.parse.quote_plus(secret)}"
            request.add_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
        else:
            form = form | {"client_id": self.client}
        request.data = urllib.parse.urlencode(form).encode()

    def _trusted(self) -> ssl.SSLContext:
        """Returns a TLS context with the provider's certificate authority, or else those of this machine."""
        try:
            return trusting(self.config.pem("idp-certificate-authority"))
        except (ssl.SSLError, ValueError):
            raise CredentialsError(f"{self.label} has an idp-certificate-authority that is not a certificate") from None


class _NoDetour(urllib.request.HTTPRedirectHandler):
    """Refuses redirects of requests with tokens or secrets, which must reach only the URLs that the issuer names."""

    def redirect_request(self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """Follows only redirects of requests without a body, and to https."""
        if req.data is None and newurl.startswith("https://"):
            return super().redirect_request(req, fp, code, msg, headers, newurl)
        return None


def _opener(tls: ssl.SSLContext) -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.HTTPSHandler(context=tls), _NoDetour)


def _place(url: str) -> str:
    """Returns a URL without the parts that may be secret."""
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _words(cause: object) -> str:
    text = getattr(cause, "verify_message", "") or getattr(cause, "strerror", None) or str(cause)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({text}); set idp-certificate-authority"
    return " ".join(str(text).split()) or type(cause).__name__


def _json(body: bytes) -> dict[str, Any]:
    try:
        given = json.loads(body)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def _reason(error: urllib.error.HTTPError) -> str:
    """Returns the reason of an issuer's refusal (RFC 6749, section 5.2)."""
    given = _json(error.read(MAX_RESPONSE))
    words = (str(given[key]) for key in ("error", "error_description") if given.get(key))
    reason = " ".join(": ".join(words).split())[:200]
    return f": {reason}" if reason else ""
