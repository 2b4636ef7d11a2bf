"""Reads the token of a kubeconfig's `auth-provider: oidc`, which kubectl refreshes."""

from __future__ import annotations

from applier.errors import CredentialsError
from applier.transport.clocks import token_times
from applier.transport.login.credentials import Fixed
from applier.transport.login.exec_plugin import utc_now
from applier.transport.login.kubeconfig import Chosen, KubeconfigEntry


def id_token(chosen: Chosen) -> Fixed:
    """Returns the token as long as it is valid. Raises `CredentialsError`.

    It is neither refreshed nor written back: many issuers accept a refresh token once, so that whoever refreshes has to edit the kubeconfig
    under kubectl's lock. Exec plugins need none of that.
    """
    given = chosen.user.value["auth-provider"]
    name, config = (given.get("name"), given.get("config")) if isinstance(given, dict) else (None, None)
    label = f"{chosen.label}: its auth-provider {name!r}"
    if name != "oidc":
        raise CredentialsError(f"{label} is no longer supported, by kubectl either; use the exec plugin of your provider")
    entry = KubeconfigEntry(config if isinstance(config, dict) else {}, chosen.user.file, f"the auth-provider of {chosen.label}")
    token = entry.text("id-token")
    until = token_times(token)[1]
    if not token or (until is not None and until <= utc_now()):
        what = "has an id-token that has expired" if token else "has no id-token"
        raise CredentialsError(f"{label} {what}; run a kubectl command, which refreshes it, or use an exec plugin such as kubelogin")
    return Fixed.token(token, label=f"the id-token of {entry.label}")
