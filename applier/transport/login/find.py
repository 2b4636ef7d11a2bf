"""Finds the server to connect to, with its URL and proxy: from a kubeconfig's context, or from the service account of our pod."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from applier.errors import CredentialsError
from applier.transport.login.kubeconfig import NO_OVERRIDES, Chosen, KubeconfigEntry, choose, locate, read, read_text
from applier.transport.login.reload import Followed
from applier.transport.login.target import Target, impersonation, trust


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


POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def find_target(
    kubeconfig: str, context: str, environment: Mapping[str, str], pod: Path = POD, overrides: Mapping[str, Any] = NO_OVERRIDES
) -> Target:
    """Returns the server of the kubeconfig, or in a pod without one, of its service account.

    `overrides` are fields of a kubeconfig's user, such as `token` or `as`, in place of what is there. Raises `CredentialsError`.
    """
    paths = locate(kubeconfig, environment)
    if paths:
        return target_of(choose(read(paths), context, overrides), environment)
    looked = environment.get("KUBECONFIG") or "~/.kube/config"
    if context or not environment.get("KUBERNETES_SERVICE_HOST"):
        raise CredentialsError(f"there is no kubeconfig ({looked}), and not running in a pod; specify one with --kubeconfig or KUBECONFIG")
    if not (pod / "token").is_file():
        why = "is automountServiceAccountToken false?"
        raise CredentialsError(f"there is no kubeconfig ({looked}), and this pod has no token of a service account in {pod}; {why}")
    return target_of(_service_account(environment, pod)._replace(overrides=overrides).overridden(), environment)


def _service_account(environment: Mapping[str, str], pod: Path) -> Chosen:
    """Returns the cluster that we run in, in the form of a kubeconfig's context, so that its files are reloaded alike."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    label, namespace = "the service account of this pod", pod / "namespace"
    cluster = {"server": f"https://{f'[{host}]' if ':' in host else host}:{port}", "certificate-authority": "ca.crt"}
    return Chosen(
        context="",
        namespace=read_text(namespace, "the pod's namespace").strip() if namespace.is_file() else "default",
        cluster=KubeconfigEntry(cluster, pod / "ca.crt", label),
        user=KubeconfigEntry({"tokenFile": "token"}, pod / "token", label),
        label=label,
    )


def target_of(chosen: Chosen, environment: Mapping[str, str]) -> Target:
    """Returns the target of a context, after loading its certificates. Raises `CredentialsError`."""
    cluster, label = chosen.cluster, chosen.label
    insecure, ca = cluster.flag("insecure-skip-tls-verify"), cluster.pem("certificate-authority")
    if insecure and ca:
        raise CredentialsError(f"{label}: its cluster has both a certificate-authority and insecure-skip-tls-verify; remove one")
    server = server_url(cluster.text("server"), label, encrypted=bool(ca or insecure))

    def take(authority: str, pair: tuple[str, str]) -> None:
        """Sets the target's authority to a reloaded one. Raises `CredentialsError` for certificates that TLS does not accept."""
        if target.encrypted:
            trust(target, authority, *pair)
        target.ca = authority

    target = Target(
        server=server,
        credentials=Followed(chosen, take),
        namespace=chosen.namespace,
        context=chosen.context,
        label=label,
        ca=ca,
        server_name=cluster.text("tls-server-name"),
        insecure=insecure,
        headers=impersonation(chosen.user),
        proxy=proxy_url(server, cluster.text("proxy-url"), environment, label),
    )
    if ca or target.credentials.pair[0]:  # reports an invalid certificate before anything is sent
        take(ca, target.credentials.pair)
    return target
