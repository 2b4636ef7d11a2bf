"""Chooses how a kubeconfig's user authenticates."""

from __future__ import annotations

from applier.errors import CredentialsError
from applier.transport.login.credentials import Credentials, Fixed
from applier.transport.login.kubeconfig import Chosen


def prove(chosen: Chosen) -> Credentials:
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
        from applier.transport.login.exec_plugin import ExecPlugin
        from applier.transport.login.plugins import Plugin

        return Plugin(ExecPlugin(chosen).run)
    if "auth-provider" in chosen.user.value:
        from applier.transport.login.auth_provider import id_token

        return id_token(chosen)
    return Fixed()
