"""From a chosen context, or a pod's own surroundings, to a target that can be spoken to."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from applier.errors import CredentialsError
from applier.transport.credentials import Credentials, Fixed, TokenFile
from applier.transport.kubeconfig import Chosen, Entry, choose, locate, read
from applier.transport.target import Target, trust

POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def find_target(kubeconfig: str, context: str, environment: Mapping[str, str], pod: Path = POD) -> Target:
    """The server that is meant: by kubeconfig, or inside of a pod that has none, by its service account. Raises `CredentialsError`."""
    paths = locate(kubeconfig, environment)
    if paths:
        return target_of(choose(read(paths), context), environment)
    if environment.get("KUBERNETES_SERVICE_HOST") and (pod / "token").is_file() and not context:
        return in_cluster(environment, pod)
    looked = environment.get("KUBECONFIG") or "~/.kube/config"
    raise CredentialsError(f"there is no kubeconfig ({looked}), and this is no pod; give one with --kubeconfig or KUBECONFIG")


def in_cluster(environment: Mapping[str, str], pod: Path = POD) -> Target:
    """The server of the cluster that we run in. Its token is read again as the kubelet replaces it."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    namespace = pod / "namespace"
    return Target(
        server=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        credentials=TokenFile(pod / "token"),
        namespace=namespace.read_text().strip() if namespace.is_file() else "default",
        said="the cluster of this pod",
        ca=_text(pod / "ca.crt", "the service account's certificate authority"),
    )


def target_of(chosen: Chosen, environment: Mapping[str, str]) -> Target:
    """The target that a context stands for, its certificates read and tried. Raises `CredentialsError`."""
    cluster, said = chosen.cluster, chosen.said
    server = str(cluster.value.get("server") or "").rstrip("/")
    if not server:
        raise CredentialsError(f"{said}: its cluster has no server")
    ca = _pem(cluster, "certificate-authority", said)
    if "://" not in server:
        server = f"{'https' if ca or cluster.value.get('insecure-skip-tls-verify') else 'http'}://{server}"
    target = Target(
        server=server,
        credentials=_credentials(chosen),
        namespace=chosen.namespace,
        context=chosen.context,
        said=said,
        ca=ca,
        server_name=str(cluster.value.get("tls-server-name") or ""),
        insecure=bool(cluster.value.get("insecure-skip-tls-verify")),
        proxy=_proxy(server, str(cluster.value.get("proxy-url") or ""), environment, said),
    )
    if target.encrypted and (ca or target.credentials.pair[0]):  # so that a bad certificate is said before anything is sent
        trust(target, *target.credentials.pair)
    return target


def _credentials(chosen: Chosen) -> Credentials:
    """How a user proves who it is. What takes another program, or another server, is left to the `kubernetes` package."""
    user, said = chosen.user, chosen.said
    if "exec" in user.value or "auth-provider" in user.value:
        from applier.transport.plugins import Plugin

        return Plugin(chosen)
    pair = (_pem(user, "client-certificate", said), _pem(user, "client-key", said))
    if bool(pair[0]) != bool(pair[1]):
        raise CredentialsError(f"{said}: its user has a {'client-certificate' if pair[0] else 'client-key'} without its other half")
    if path := user.path("tokenFile"):
        return TokenFile(path, pair)
    if user.value.get("username"):
        return Fixed.basic(str(user.value["username"]), str(user.value.get("password") or ""), pair)
    return Fixed.token(str(user.value.get("token") or ""), pair)


def _pem(entry: Entry, key: str, said: str) -> str:
    """A certificate or key that is given in the kubeconfig (`KEY-data`, which goes first) or in a file; empty where there is none."""
    if data := entry.value.get(f"{key}-data"):
        try:
            return base64.b64decode(str(data), validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            raise CredentialsError(f"{said}: {key}-data is not PEM text in base64") from None
    path = entry.path(key)
    return _text(path, f"the {key} of {said}") if path else ""


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CredentialsError(f"cannot read {what}: {path}: {getattr(error, 'strerror', None) or 'not text'}") from None


def _proxy(server: str, given: str, environment: Mapping[str, str], said: str) -> str:
    """The proxy of the kubeconfig, else that of the environment, with NO_PROXY honoured as Python does."""
    if given:
        if urlsplit(given).scheme not in ("http", "https"):
            raise CredentialsError(f"{said}: its proxy-url {given} is not supported; http and https are")
        return given
    if not any(name.lower().endswith("_proxy") for name in environment):
        return ""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(server)
    return "" if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme, "")
