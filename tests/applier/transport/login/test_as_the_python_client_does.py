"""What we read out of kubeconfigs is what Kubernetes' own Python client reads out of them."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes.client import Configuration
from kubernetes.config.kube_config import load_kube_config

from applier.transport.login.find import find_target
from tests.suite.rows import rows

from ..certificates import Pair, needs_openssl, signed

pytestmark = needs_openssl


@pytest.fixture(scope="module")
def person(ca: Pair) -> Pair:
    return signed(ca, "somebody")


def data(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def clusters(ca: Pair) -> dict[str, dict[str, Any]]:
    at = {"server": "https://kubernetes.example:6443"}
    return {
        "an authority in the file": at | {"certificate-authority-data": data(ca.certificate)},
        "an authority beside it": at | {"certificate-authority": os.path.relpath(ca.certificate, ca.certificate.parent.parent)},
        "any certificate": at | {"insecure-skip-tls-verify": True},
        "another name": at | {"certificate-authority-data": data(ca.certificate), "tls-server-name": "inside.example"},
        "a path": {"server": "https://rancher.example/k8s/clusters/c-1", "insecure-skip-tls-verify": True},
        "no TLS": {"server": "http://kubernetes.example:8080"},
    }


def users(person: Pair) -> dict[str, dict[str, Any]]:
    (person.certificate.parent / "token").write_text("from-a-file")
    return {
        "a token": {"token": "abc"},
        "a token in a file": {"tokenFile": str(person.certificate.parent / "token")},
        "a password": {"username": "me", "password": "you: and I"},
        "a certificate": {"client-certificate-data": data(person.certificate), "client-key-data": data(person.key)},
        "files of a certificate": {"client-certificate": str(person.certificate), "client-key": str(person.key)},
        "nobody": {},
    }


CLUSTERS = ["an authority in the file", "an authority beside it", "any certificate", "another name", "a path", "no TLS"]
USERS = ["a token", "a token in a file", "a password", "a certificate", "files of a certificate", "nobody"]


def kubeconfig(path: Path, cluster: dict[str, Any], user: dict[str, Any]) -> Path:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "one",
        "clusters": [{"name": "one", "cluster": cluster}],
        "users": [{"name": "one", "user": user}],
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
    }
    path.write_text(yaml.safe_dump(content))
    return path


def text(path: str | None) -> str:
    return Path(path).read_text().strip() if path else ""


@rows("user", USERS)
@rows("cluster", CLUSTERS)
def test_a_kubeconfig_means_the_same_to_both(cluster: str, user: str, ca: Pair, person: Pair) -> None:
    path = kubeconfig(ca.certificate.parent.parent / "config", clusters(ca)[cluster], users(person)[user])
    theirs = Configuration()
    load_kube_config(str(path), client_configuration=theirs, persist_config=False)  # type: ignore[no-untyped-call]
    ours = find_target(str(path), "", {})
    assert ours.server == theirs.host
    assert ours.ca.strip() == text(theirs.ssl_ca_cert)
    assert ours.insecure != theirs.verify_ssl
    assert ours.server_name == (theirs.tls_server_name or "")
    assert ours.credentials.authorization() == theirs.auth_settings().get("BearerToken", {}).get("value", "")
    if not ours.encrypted:
        return  # the Python client then drops certificates, and we have no use for them
    assert tuple(part.strip() for part in ours.credentials.pair) == (text(theirs.cert_file), text(theirs.key_file))
