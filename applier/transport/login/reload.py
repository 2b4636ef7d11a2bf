"""Reloads credentials from files that change while we run: certificate authorities, certificates, keys and tokens."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable

from applier.errors import CredentialsError
from applier.tls_files import Stamp, stamp
from applier.transport.login.credentials import Credentials, Fixed
from applier.transport.login.kubeconfig import Chosen, KubeconfigEntry, choose, read

REREAD = 10.0  # seconds between checks of the files; the kubelet replaces tokens long before they expire


class Followed:
    """Provides the credentials of a context's user, and reloads them from changed files: checked every ten seconds and after a rejection.

    The context stays the one that was chosen, whatever `current-context` becomes, and changes are ignored if it names another cluster:
    credentials are never sent to another cluster. `trust` is called with a new authority and client certificate before they are used. It
    raises `CredentialsError` if certificate and key do not match, as when only one of them was replaced yet: then the old ones stay.
    """

    def __init__(self, chosen: Chosen, trust: Callable[[str, tuple[str, str]], None], now: Callable[[], float] = time.monotonic) -> None:
        self.chosen, self.trust, self.now = chosen, trust, now
        self.seen, self.checked_at = _state(chosen), now()
        self.inner, self.ca = _prove(chosen), chosen.cluster.pem("certificate-authority")

    @property
    def pair(self) -> tuple[str, str]:
        """Returns the client certificate and its key."""
        return self.inner.pair

    def authorization(self) -> str:
        """Returns the Authorization header."""
        return self.inner.authorization()

    def due(self) -> bool:
        """Reports whether the credentials expire soon, or their files have changed."""
        if self.inner.due():
            return True
        if self.now() - self.checked_at <= REREAD:
            return False
        if _state(self.chosen) != self.seen:
            return True
        self.checked_at = self.now()
        return False

    async def renew(self) -> bool:
        """Reloads changed files; otherwise asks the user's plugin. Raises `CredentialsError`."""
        before = self.ca, self.inner.authorization(), self.inner.pair
        if not self._reload() or self.inner.due():
            await self.inner.renew()
        return (self.ca, self.inner.authorization(), self.inner.pair) != before

    def _reload(self) -> bool:
        """Reloads changed files; returns whether they hold other credentials. Invalid files are ignored until they change again."""
        state = _state(self.chosen)
        self.checked_at = self.now()
        if state == self.seen:
            return False
        self.seen = state
        try:
            chosen = self._choose_again()
            fresh, ca = _prove(chosen), chosen.cluster.pem("certificate-authority")
            # An unchanged plugin keeps its credentials, which a new instance would have to issue again.
            if fresh.due() and chosen.user.value == self.chosen.user.value:
                fresh = self.inner
            self.trust(ca, fresh.pair)
        except CredentialsError:
            return False
        has_changed = fresh is not self.inner
        self.chosen, self.inner, self.ca = chosen, fresh, ca
        self.seen = _state(chosen)
        return has_changed

    def _choose_again(self) -> Chosen:
        """Returns the same context, read from its files again. Raises `CredentialsError` if it names another server."""
        before = self.chosen
        if not before.files:  # a pod's service account, which no kubeconfig describes
            return before
        chosen = choose(read(path for path in before.files if path.exists()), before.context, before.overrides)
        if chosen.cluster.text("server") != before.cluster.text("server"):
            raise CredentialsError(f"{chosen.label} now refers to another server")
        return chosen


def _state(chosen: Chosen) -> tuple[Stamp | None, ...]:
    named = [chosen.user.path(key) for key in ("client-certificate", "client-key", "tokenFile")]
    named.append(chosen.cluster.path("certificate-authority"))
    return tuple(stamp(path) for path in (*chosen.files, *(path for path in named if path)))


def _prove(chosen: Chosen) -> Credentials:
    """Returns the credentials of a context's user. As in kubectl, a token, password or certificate takes precedence over a plugin.

    Raises `CredentialsError`.
    """
    user, label = chosen.user, chosen.label
    if "exec" in user.value and "auth-provider" in user.value:
        raise CredentialsError(f"{label}: its user has both exec and an auth-provider; remove one")
    pair = (user.pem("client-certificate"), user.pem("client-key"))
    if bool(pair[0]) != bool(pair[1]):
        raise CredentialsError(f"{label}: its user has a {'client-certificate' if pair[0] else 'client-key'} without its other half")
    token, name, password = user.text("token"), user.text("username"), user.text("password")
    if token and name:
        raise CredentialsError(f"{label}: its user has a token and a username; remove one")
    if from_file := user.content("tokenFile"):
        return Fixed.token(from_file, pair, f"the token file of {label}")
    if name:
        return Fixed.basic(name, password, pair)
    if token or pair[0]:
        return Fixed.token(token, pair, f"the token of {label}")
    return _issued(chosen)


def _issued(chosen: Chosen) -> Credentials:
    """Returns the credentials of an exec plugin, or the token of an auth-provider; empty ones without either."""
    if "exec" in chosen.user.value:
        from applier.transport.login.exec_plugin import ExecPlugin, Plugin

        return Plugin(ExecPlugin(chosen).run)
    if "auth-provider" in chosen.user.value:
        return _id_token(chosen)
    return Fixed()


def _id_token(chosen: Chosen) -> Fixed:
    """Returns the token of a kubeconfig's `auth-provider: oidc` as long as it is valid; kubectl refreshes it. Raises `CredentialsError`.

    It is neither refreshed nor written back: many issuers accept a refresh token once, so that whoever refreshes has to edit the kubeconfig
    under kubectl's lock. Exec plugins need none of that.
    """
    from applier.transport.clocks import token_times  # most users have no auth-provider

    given = chosen.user.value["auth-provider"]
    name, config = (given.get("name"), given.get("config")) if isinstance(given, dict) else (None, None)
    label = f"{chosen.label}: its auth-provider {name!r}"
    if name != "oidc":
        raise CredentialsError(f"{label} is no longer supported, by kubectl either; use the exec plugin of your provider")
    entry = KubeconfigEntry(config if isinstance(config, dict) else {}, chosen.user.file, f"the auth-provider of {chosen.label}")
    token = entry.text("id-token")
    until = token_times(token)[1]
    if not token or (until is not None and until <= datetime.datetime.now(datetime.UTC)):
        what = "has an id-token that has expired" if token else "has no id-token"
        raise CredentialsError(f"{label} {what}; run a kubectl command, which refreshes it, or use an exec plugin such as kubelogin")
    return Fixed.token(token, label=f"the id-token of {entry.label}")
