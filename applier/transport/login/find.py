"""From a chosen context, or a pod's own surroundings, to a target that can be spoken to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from applier.errors import CredentialsError
from applier.transport.login.addresses import proxy_url, server_url
from applier.transport.login.credentials import TokenFile
from applier.transport.login.impersonation import impersonation
from applier.transport.login.kubeconfig import Chosen, choose, locate, read
from applier.transport.login.pem import pem, read_text
from applier.transport.login.reload import Followed
from applier.transport.login.target import Target, trust

POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def find_target(kubeconfig: str, context: str, environment: Mapping[str, str], pod: Path = POD) -> Target:
    """The server that is meant: by kubeconfig, or inside of a pod that has none, by its service account. Raises `CredentialsError`."""
    paths = locate(kubeconfig, environment)
    if paths:
        return target_of(choose(read(paths), context), environment)
    looked = environment.get("KUBECONFIG") or "~/.kube/config"
    if context or not environment.get("KUBERNETES_SERVICE_HOST"):
        raise CredentialsError(f"there is no kubeconfig ({looked}), and this is no pod; give one with --kubeconfig or KUBECONFIG")
    if not (pod / "token").is_file():
        why = "is automountServiceAccountToken false?"
        raise CredentialsError(f"there is no kubeconfig ({looked}), and this pod has no token of a service account in {pod}; {why}")
    return in_cluster(environment, pod)


def in_cluster(environment: Mapping[str, str], pod: Path = POD) -> Target:
    """The server of the cluster that we run in. Its token is read again as the kubelet replaces it."""
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    namespace = pod / "namespace"
    return Target(
        server=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        credentials=TokenFile(pod / "token"),
        namespace=read_text(namespace, "the pod's namespace").strip() if namespace.is_file() else "default",
        said="the cluster of this pod",
        ca=read_text(pod / "ca.crt", "the service account's certificate authority"),
    )


def target_of(chosen: Chosen, environment: Mapping[str, str]) -> Target:
    """The target that a context stands for, its certificates read and tried. Raises `CredentialsError`."""
    cluster, said = chosen.cluster, chosen.said
    insecure, ca = cluster.flag("insecure-skip-tls-verify"), pem(cluster, "certificate-authority", said)
    if insecure and ca:
        raise CredentialsError(f"{said}: its cluster has both a certificate-authority and insecure-skip-tls-verify; remove one")
    server = server_url(cluster.text("server"), said, encrypted=bool(ca or insecure))
    target = Target(
        server=server,
        credentials=Followed(chosen, lambda pair: _try(target, pair)),
        namespace=chosen.namespace,
        context=chosen.context,
        said=said,
        ca=ca,
        server_name=cluster.text("tls-server-name"),
        insecure=insecure,
        headers=impersonation(chosen.user),
        proxy=proxy_url(server, cluster.text("proxy-url"), environment, said),
    )
    if ca or target.credentials.pair[0]:  # so that a bad certificate is said before anything is sent
        _try(target, target.credentials.pair)
    return target


def _try(target: Target, pair: tuple[str, str]) -> None:
    """Raises `CredentialsError` for certificates that TLS does not take."""
    if target.encrypted:
        trust(target, *pair)
