"""From a kubeconfig or a pod to a server with credentials."""

from __future__ import annotations

import base64
import errno
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from applier.errors import CredentialsError
from applier.transport.login.find import find_target
from applier.transport.login.kubeconfig import choose, read
from applier.transport.login.target import Target
from tests.suite.rows import rows

from ..certificates import authority, encrypt, needs_openssl, signed
from .test_kubeconfig import write


def target(path: Path, cluster: Any = None, user: Any = None, environment: dict[str, str] | None = None) -> Target:
    return find_target(str(write(path, "one", cluster=cluster, user=user)), "", environment or {})


USERS: dict[str, tuple[dict[str, Any], str]] = {
    "a token": ({"token": "abc"}, "Bearer abc"),
    "a name and a password": ({"username": "bob", "password": "x:y"}, "Basic " + base64.b64encode(b"bob:x:y").decode()),
    "nothing": ({"other": 1}, ""),
}


@pytest.mark.parametrize("case", USERS.values(), ids=USERS)
def test_a_user_proves_who_it_is(case: tuple[dict[str, Any], str], tmp_path: Path) -> None:
    user, header = case
    assert target(tmp_path / "config", user=user).credentials.authorization() == header


def test_a_token_may_end_with_a_line_break(tmp_path: Path) -> None:
    assert target(tmp_path / "config", user={"token": "abc\n"}).credentials.authorization() == "Bearer abc"


@needs_openssl
def test_base64_may_be_broken_into_lines(tmp_path: Path) -> None:
    data = base64.encodebytes(authority(tmp_path).certificate.read_bytes()).decode()
    assert "BEGIN CERTIFICATE" in target(tmp_path / "config", {"server": "https://a", "certificate-authority-data": data}).ca


def test_a_token_file_is_read_beside_its_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("abc\n")
    assert target(tmp_path / "config", user={"tokenFile": "token", "token": "old"}).credentials.authorization() == "Bearer abc"


def test_the_cluster_says_how_it_is_reached(tmp_path: Path) -> None:
    cluster = {
        "server": "https://10.0.0.1:6443/base/",
        "insecure-skip-tls-verify": True,
        "tls-server-name": "api",
        "proxy-url": "http://proxy:3128",
    }
    found = target(tmp_path / "config", cluster)
    expected = ("https://10.0.0.1:6443/base", True, "api", "http://proxy:3128")
    assert (found.server, found.insecure, found.server_name, found.proxy) == expected


SCHEMES: dict[str, tuple[dict[str, Any], str]] = {
    "a bare address is not encrypted": ({"server": "localhost:8080"}, "http://localhost:8080"),
    "a bare address with TLS settings is": ({"server": "localhost:8443", "insecure-skip-tls-verify": True}, "https://localhost:8443"),
}


@pytest.mark.parametrize("case", SCHEMES.values(), ids=SCHEMES)
def test_an_address_without_a_scheme_gets_one(case: tuple[dict[str, Any], str], tmp_path: Path) -> None:
    assert target(tmp_path / "config", case[0]).server == case[1]


PEM = base64.b64encode(b"no certificate").decode()
BROKEN: dict[str, tuple[Any, Any, str]] = {
    "no server": ({"x": 1}, None, "its cluster has no server"),
    "an authority that would not be asked": (
        {"server": "https://a", "certificate-authority-data": PEM, "insecure-skip-tls-verify": True},
        None,
        "has both a certificate-authority and insecure-skip-tls-verify; remove one",
    ),
    "two ways to log in": (None, {"token": "t", "username": "n"}, "its user has a token and a username; remove one"),
    "a token of two lines": (None, {"token": "a\nb"}, "the token of context 'one' of"),
    "an authority that is missing": (
        {"server": "https://a", "certificate-authority": "ca.crt"},
        None,
        "cannot read the certificate-authority of",
    ),
    "an authority that is empty": (
        {"server": "https://a", "certificate-authority": "/dev/null"},
        None,
        "the certificate-authority of cluster",
    ),
    "an authority that is not base64": (
        {"server": "https://a", "certificate-authority-data": "%%%"},
        None,
        "the certificate-authority-data of cluster",
    ),
    "an authority that is no certificate": (
        {"server": "https://a", "certificate-authority-data": PEM},
        None,
        "its certificate authority cannot be used",
    ),
    "half a client certificate": (None, {"client-certificate-data": PEM}, "its user has a client-certificate without its other half"),
    "a token file that is missing": (None, {"tokenFile": "token"}, "cannot read the tokenFile of user 'one'"),
}


@rows("case", BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_used_is_one_sentence(case: tuple[Any, Any, str], tmp_path: Path) -> None:
    cluster, user, says = case
    with pytest.raises(CredentialsError) as raised:
        target(tmp_path / "config", cluster, user)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_secrets_of_a_kubeconfig_are_in_no_representation(tmp_path: Path) -> None:
    path = write(tmp_path / "config", "one", user={"token": "hunter2"})
    config = read([path])
    assert "hunter2" not in repr((config, choose(config, ""), find_target(str(path), "", {})))


def pod(folder: Path) -> dict[str, str]:
    """The surroundings of a pod, its service account in a folder."""
    for name, content in (("token", "pod-token"), ("namespace", "team-a")):
        (folder / name).write_text(content)
    authority(folder)
    return {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443", "HOME": str(folder)}


@needs_openssl
def test_a_pod_uses_its_service_account(tmp_path: Path) -> None:
    found = find_target("", "", pod(tmp_path), tmp_path)
    assert (found.server, found.namespace, found.credentials.authorization()) == ("https://10.0.0.1:443", "team-a", "Bearer pod-token")


@needs_openssl
async def test_a_pod_reads_its_token_again(tmp_path: Path) -> None:
    credentials = find_target("", "", pod(tmp_path), tmp_path).credentials
    (tmp_path / "token").write_text("its-next-token")
    assert await credentials.renew()
    assert credentials.authorization() == "Bearer its-next-token"


@needs_openssl
def test_a_pod_of_a_cluster_with_long_addresses_has_a_valid_url(tmp_path: Path) -> None:
    assert find_target("", "", pod(tmp_path) | {"KUBERNETES_SERVICE_HOST": "fd00::1"}, tmp_path).server == "https://[fd00::1]:443"


@needs_openssl
def test_a_kubeconfig_goes_before_the_pod(tmp_path: Path) -> None:
    path = write(tmp_path / "config", "one")
    assert find_target("", "", pod(tmp_path) | {"KUBECONFIG": str(path)}, tmp_path).server == "https://config-one"


@needs_openssl
def test_a_pod_without_a_token_is_said(tmp_path: Path) -> None:
    environment = pod(tmp_path)
    (tmp_path / "token").unlink()
    with pytest.raises(CredentialsError, match=r"pod has no token of a service account in .*; is automountServiceAccountToken false\?"):
        find_target("", "", environment, tmp_path)


def test_with_neither_kubeconfig_nor_pod_both_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        CredentialsError, match=r"there is no kubeconfig .* and not running in a pod; specify one with --kubeconfig or KUBECONFIG"
    ):
        find_target("", "", {"HOME": str(tmp_path)}, tmp_path)


@needs_openssl
def test_a_client_certificate_is_taken_from_files_and_from_data(tmp_path: Path) -> None:
    ca = authority(tmp_path)
    client = signed(ca, "client")
    by_file = {"client-certificate": "client.crt", "client-key": "client.key"}
    by_data = {f"{name}-data": base64.b64encode((tmp_path / path).read_bytes()).decode() for name, path in by_file.items()}
    cluster = {"server": "https://a", "certificate-authority": "ca.crt"}
    pairs = [target(tmp_path / "config", cluster, user).credentials.pair for user in (by_file, by_data)]
    assert pairs == [client.pem, client.pem]


@needs_openssl
def test_a_key_of_another_certificate_is_said(tmp_path: Path) -> None:
    ca = authority(tmp_path)
    signed(ca, "client")
    signed(ca, "other")
    cluster = {"server": "https://a", "certificate-authority": "ca.crt"}
    with pytest.raises(CredentialsError, match="its client certificate cannot be used: key values mismatch"):
        target(tmp_path / "config", cluster, {"client-certificate": "client.crt", "client-key": "other.key"})


@needs_openssl
def test_a_key_that_is_encrypted_is_said(tmp_path: Path) -> None:
    """OpenSSL would ask for the password, at whatever terminal there is."""
    ca = authority(tmp_path)
    encrypt(signed(ca, "client").key)
    cluster = {"server": "https://a", "certificate-authority": "ca.crt"}
    with pytest.raises(CredentialsError, match="its client certificate cannot be used: its key is encrypted"):
        target(tmp_path / "config", cluster, {"client-certificate": "client.crt", "client-key": "client.key"})


@needs_openssl
@pytest.mark.parametrize("missing", ["memfd_create", "/proc"])
def test_a_client_certificate_needs_no_memory_that_is_a_file(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel may deny it (`vm.memfd_noexec=2`), and so may a sandbox."""

    def denied(*_: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    if missing == "memfd_create":
        monkeypatch.setattr(os, "memfd_create", denied, raising=False)
    else:
        monkeypatch.setattr(os.path, "isdir", lambda _: False)
    monkeypatch.setattr(tempfile, "tempdir", str(disk := tmp_path / "disk"))
    disk.mkdir()
    ca = authority(tmp_path)
    signed(ca, "client")
    cluster = {"server": "https://a", "certificate-authority": "ca.crt"}
    target(tmp_path / "config", cluster, {"client-certificate": "client.crt", "client-key": "client.key"})
    assert list(disk.iterdir()) == []
