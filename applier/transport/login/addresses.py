"""Determines the URL of a server and of the proxy to it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

from applier.errors import CredentialsError


def server_url(given: str, label: str, *, encrypted: bool) -> str:
    """Returns the URL of a kubeconfig's server; adds the scheme if it is missing. Raises `CredentialsError`."""
    url = given if "://" in given else f"{'https' if encrypted else 'http'}://{given}"
    parts = _parts(url)
    if parts is None:
        raise CredentialsError(f"{label}: its cluster has the server {given!r}, which is not an address such as https://host:6443")
    if parts.username or parts.password:
        raise CredentialsError(f"{label}: its cluster has a server with a name or password in it; put them into the user")
    return url.rstrip("/")


def proxy_url(server: str, given: str, environment: Mapping[str, str], label: str) -> str:
    """Returns the proxy of the kubeconfig, else that of HTTPS_PROXY or HTTP_PROXY; empty for none. NO_PROXY works as in kubectl.

    Raises `CredentialsError`, which does not show a password that may be in the address.
    """
    if given:
        return _proxy(given, f"{label}: its proxy-url")
    parts = urlsplit(server)
    name = f"{parts.scheme}_proxy"
    proxy = environment.get(name) or environment.get(name.upper()) or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if not proxy or bypassed(parts.hostname or "", port, environment.get("no_proxy") or environment.get("NO_PROXY") or ""):
        return ""
    return _proxy(proxy if "://" in proxy else f"http://{proxy}", f"the proxy of {name.upper()}")


def _proxy(url: str, what: str) -> str:
    scheme = url.partition("://")[0]
    if scheme not in ("http", "https", "socks5", "socks5h"):
        raise CredentialsError(f"{what} has the scheme {scheme!r}, which is not supported; use http, https or socks5")
    if _parts(url) is None:
        raise CredentialsError(f"{what} is not an address such as http://host:3128")
    return url


def _parts(url: str) -> SplitResult | None:
    """Parses a URL; None without a host, or if its port is not a number."""
    try:
        parts = urlsplit(url)
        if not url.isprintable() or " " in url or not parts.hostname or parts.port == 0:
            return None
    except ValueError:
        return None
    return parts


def bypassed(host: str, port: int, no_proxy: str) -> bool:
    """Reports whether a host is reached without the proxy, by the rules of Go's httpproxy; this machine always is.

    Else names, addresses, networks.
    """
    host = host.lower().rstrip(".")
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    rules = (rule.strip().lower() for rule in no_proxy.split(","))
    return any(_matches(rule, host, address, port) for rule in rules if rule)


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _matches(rule: str, host: str, address: Address | None, port: int) -> bool:
    if rule == "*":
        return True
    if "/" in rule:
        network = _network(rule)
        return address is not None and network is not None and address in network
    name, separator, wanted = rule.rpartition(":")
    if not separator or not wanted.isdigit() or _address(rule) is not None:
        name, wanted = rule, ""
    if not name or (wanted and int(wanted) != port):
        return False
    if address is not None:
        return _address(name) == address
    name = name.removeprefix("*")
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
