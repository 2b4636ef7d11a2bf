"""Finds the server to connect to: from a kubeconfig's context, or from the service account of the pod that we run in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from applier.errors import CredentialsError
from applier.transport.login.addresses import proxy_url, server_url
from applier.transport.login.kubeconfig import NO_OVERRIDES, Chosen, KubeconfigEntry, choose, locate, read, read_text
from applier.transport.login.reload import Followed
from applier.transport.login.target import Target, impersonation, trust

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
