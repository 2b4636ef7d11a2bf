"""Credentials that another program or an identity provider hands out: exec plugins and OIDC, by the `kubernetes` package.

It is heavy, so that it is imported when the first request needs it, and in a thread.
"""

from __future__ import annotations

import asyncio
import copy
import datetime
from collections.abc import Callable
from typing import Any, NamedTuple

from applier.errors import CredentialsError
from applier.transport.kubeconfig import Chosen

EARLY = 60.0  # seconds before their end that credentials are renewed


class Granted(NamedTuple):
    """What was handed out. `until` is None for credentials without an end."""

    header: str
    pair: tuple[str, str]
    until: datetime.datetime | None


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class Plugin:
    """Credentials of a user with `exec` or `auth-provider`; asked for at the first request, and again before they end."""

    def __init__(self, chosen: Chosen, now: Callable[[], datetime.datetime] = _now) -> None:
        self.chosen, self.now = chosen, now
        self.granted: Granted | None = None
        self.pair = ("", "")

    def authorization(self) -> str:
        """The token of the last answer."""
        return self.granted.header if self.granted else ""

    def due(self) -> bool:
        """Whether there is nothing yet, or it ends within a minute."""
        if self.granted is None:
            return True
        until = self.granted.until
        return until is not None and (until - self.now()).total_seconds() < EARLY

    async def renew(self) -> bool:
        """Asks the plugin or the provider. Raises `CredentialsError`."""
        ask = _exec if "exec" in self.chosen.user.value else _provider
        self.granted = await asyncio.to_thread(ask, self.chosen)
        self.pair = self.granted.pair
        return True


def _exec(chosen: Chosen) -> Granted:
    """Runs an exec plugin (client.authentication.k8s.io) in the folder of its kubeconfig."""
    from kubernetes.config.exec_provider import ExecProvider
    from kubernetes.config.kube_config import ConfigNode

    given = chosen.user.value["exec"]
    command = str((given or {}).get("command") or "")
    try:
        plugin, cluster = ConfigNode("exec", given), ConfigNode("cluster", _cluster_info(chosen))  # type: ignore[no-untyped-call]
        status = ExecProvider(plugin, str(chosen.user.file.parent), cluster).run()  # type: ignore[no-untyped-call]
    except FileNotFoundError:
        hint = " ".join(str(given.get("installHint") or "install it, or put it on PATH").split())
        raise CredentialsError(f"{chosen.said}: its exec plugin {command!r} is not there; {hint}") from None
    except Exception as error:  # the package raises many kinds
        raise CredentialsError(f"{chosen.said}: its exec plugin {command!r} failed: {' '.join(str(error).split())}") from None
    header = f"Bearer {status['token']}" if status.get("token") else ""
    pair = (str(status.get("clientCertificateData") or ""), str(status.get("clientKeyData") or ""))
    if not header and not all(pair):
        raise CredentialsError(f"{chosen.said}: its exec plugin {command!r} gave neither a token nor a client certificate with its key")
    return Granted(header, pair, _time(status.get("expirationTimestamp")))


def _cluster_info(chosen: Chosen) -> dict[str, Any]:
    """The cluster as a plugin with `provideClusterInfo` sees it."""
    names = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
    info = {name: chosen.cluster.value[name] for name in names if name in chosen.cluster.value}
    return info | {"extensions": chosen.cluster.value.get("extensions") or []}


def _provider(chosen: Chosen) -> Granted:
    """Lets the `kubernetes` package read, and where needed refresh, the token of an auth-provider such as OIDC."""
    from kubernetes.client import Configuration
    from kubernetes.config.kube_config import KubeConfigLoader

    name = str((chosen.user.value["auth-provider"] or {}).get("name") or "")
    config = {
        "current-context": "chosen",
        "contexts": [{"name": "chosen", "context": {"cluster": "chosen", "user": "chosen"}}],
        "clusters": [{"name": "chosen", "cluster": {"server": chosen.cluster.value.get("server")}}],
        "users": [{"name": "chosen", "user": copy.deepcopy(chosen.user.value)}],
    }
    configuration = Configuration()
    try:
        loader = KubeConfigLoader(config, config_base_path=str(chosen.user.file.parent))  # type: ignore[no-untyped-call]
        loader.load_and_set(configuration)  # type: ignore[no-untyped-call]
    except Exception as error:  # the package raises many kinds
        raise CredentialsError(f"{chosen.said}: its auth-provider {name!r} failed: {' '.join(str(error).split())}") from None
    header = str(configuration.api_key.get("BearerToken") or "")
    if not header:
        raise CredentialsError(
            f"{chosen.said}: its auth-provider {name!r} gave no token; is it one that is still supported? Use exec instead"
        )
    return Granted(header, ("", ""), _token_end(header))


def _time(given: Any) -> datetime.datetime | None:
    """An RFC 3339 time; None where there is none or it cannot be read."""
    try:
        return datetime.datetime.fromisoformat(str(given)) if given else None
    except ValueError:
        return None


def _token_end(header: str) -> datetime.datetime | None:
    """When a JSON web token ends, so that it is renewed in time."""
    from applier.transport.clocks import token_times

    return token_times(header)[1]
