"""Logging in to a real API server: by exec plugin, auth-provider, client certificate and service account, and again while we run."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from applier.cluster import Resource
from applier.errors import Unauthorized
from applier.ref import Kind, Manifest
from applier.testing.control_plane import ControlPlane
from applier.transport import ApiCluster, connect
from applier.transport.login import reload
from applier.transport.login.find import find_target
from applier.transport.login.kubeconfig import choose, locate, read

from ..certificates import Pair, needs_openssl, signed
from ..scripted import raised
from .issuer import CLIENT, Issuer, issuing
from .programs import end, plugin, runs
from .test_kubeconfig import write

pytestmark = [pytest.mark.cluster, needs_openssl]

REVIEWS = Resource(Kind("authentication.k8s.io", "v1", "SelfSubjectReview"), "selfsubjectreviews", False)


@pytest.fixture(scope="module")
def issuer(ca: Pair) -> Iterator[Issuer]:
    with issuing(ca.certificate.parent, signed(ca, "issuer")) as running:
        yield running


@pytest.fixture(scope="module")
def login_plane(ca: Pair, issuer: Issuer) -> Iterator[ControlPlane]:
    """A control plane that takes client certificates of our authority and tokens of our issuer."""
    flags = (f"--client-ca-file={ca.certificate}", f"--oidc-issuer-url={issuer.url}", f"--oidc-ca-file={ca.certificate}")
    with ControlPlane.start(parts=(), api_server_flags=(*flags, f"--oidc-client-id={CLIENT}", "--oidc-username-prefix=-")) as running:
        yield running


@pytest.fixture
def config(tmp_path: Path, login_plane: ControlPlane) -> Callable[[dict[str, Any]], str]:
    """Writes the kubeconfig of a user, and gives its path."""

    def make(user: dict[str, Any]) -> str:
        cluster = {"server": login_plane.url, "certificate-authority": str(login_plane.certificate_authority)}
        return str(write(tmp_path / "config", "one", cluster=cluster, user=user))

    return make


Config = Callable[[dict[str, Any]], str]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are looked at before each request."""
    monkeypatch.setattr(reload, "REREAD", -1.0)


async def review(cluster: ApiCluster) -> Manifest:
    """Who the server says that we are."""
    return await cluster.create(REVIEWS, {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}, manager="m")


async def name(cluster: ApiCluster) -> str:
    return str((await review(cluster))["status"]["userInfo"]["username"])


async def logged_in(path: str) -> str:
    async with connect(kubeconfig=path) as cluster:
        return await name(cluster)


async def test_a_plugin_logs_us_in(config: Config, login_plane: ControlPlane, tmp_path: Path) -> None:
    assert await logged_in(config(plugin(tmp_path, {"token": login_plane.users["viewer"].token}))) == "viewer"


async def test_a_token_that_the_server_refuses_is_replaced_once_for_all(config: Config, login_plane: ControlPlane, tmp_path: Path) -> None:
    user = plugin(tmp_path, {"token": "stale", "expirationTimestamp": end(3600)}, {"token": login_plane.token})
    async with connect(kubeconfig=config(user)) as cluster:
        names = await asyncio.gather(*(name(cluster) for _ in range(16)))
    assert (set(names), runs(tmp_path)) == ({"admin"}, 2)


async def test_a_token_that_stays_refused_is_said(config: Config, tmp_path: Path) -> None:
    error = await raised(lambda: logged_in(config(plugin(tmp_path, {"token": "stale"}))))
    assert isinstance(error, Unauthorized)
    assert str(error).startswith("the server does not accept the credentials of context 'one' of")


def granted(pair: Pair, **more: str) -> dict[str, str]:
    certificate, key = pair.pem
    return {"clientCertificateData": certificate, "clientKeyData": key} | more


async def test_a_certificate_of_a_plugin_that_has_ended_is_replaced(config: Config, ca: Pair, tmp_path: Path) -> None:
    user = plugin(tmp_path, granted(signed(ca, "ended", days=-1)), granted(signed(ca, "carol")))
    assert (await logged_in(config(user)), runs(tmp_path)) == ("carol", 2)


async def test_a_certificate_that_is_replaced_on_disk_is_used_from_then_on(config: Config, ca: Pair, hasty: None) -> None:
    first, second = signed(ca, "alice"), signed(ca, "bob")
    async with connect(kubeconfig=config({"client-certificate": str(first.certificate), "client-key": str(first.key)})) as cluster:
        before = await name(cluster)
        first.certificate.write_text(second.certificate.read_text())
        between = await name(cluster)
        first.key.write_text(second.key.read_text())
        after = await name(cluster)
    assert (before, between, after) == ("alice", "alice", "bob")


async def test_a_certificate_that_is_replaced_in_the_kubeconfig_is_used_from_then_on(config: Config, ca: Pair, hasty: None) -> None:
    def user(pair: Pair) -> dict[str, str]:
        certificate, key = (base64.b64encode(text.encode()).decode() for text in pair.pem)
        return {"client-certificate-data": certificate, "client-key-data": key}

    async with connect(kubeconfig=config(user(signed(ca, "dave")))) as cluster:
        before = await name(cluster)
        config(user(signed(ca, "erin")))
        after = await name(cluster)
    assert (before, after) == ("dave", "erin")


def token_of(login_plane: ControlPlane, account: str) -> str:
    """A fresh token of a service account, as the kubelet asks for it."""
    path = f"/api/v1/namespaces/default/serviceaccounts/{account}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}}
    return str(login_plane.request("POST", path, request)["status"]["token"])


def make_account(login_plane: ControlPlane, account: str) -> None:
    body = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}}
    login_plane.request("POST", "/api/v1/namespaces/default/serviceaccounts", body)


@pytest.fixture
def pod(login_plane: ControlPlane, tmp_path: Path) -> Path:
    """The folder of a pod's service account."""
    for account in ("first", "second"):
        make_account(login_plane, account)
    (tmp_path / "token").write_text(token_of(login_plane, "first"))
    (tmp_path / "ca.crt").write_text(login_plane.certificate_authority.read_text())
    return tmp_path


async def test_a_pod_follows_its_token(login_plane: ControlPlane, pod: Path, hasty: None) -> None:
    host, _, port = login_plane.url.removeprefix("https://").partition(":")
    environment = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port, "HOME": str(pod)}
    cluster = ApiCluster(find_target("", "", environment, pod))
    before = await name(cluster)
    (pod / "token").unlink()
    between = await name(cluster)
    (pod / "token").write_text(token_of(login_plane, "second"))
    after = await name(cluster)
    await cluster.close()
    assert [who.rpartition(":")[2] for who in (before, between, after)] == ["first", "first", "second"]


@pytest.fixture
def fresh(issuer: Issuer) -> Issuer:
    issuer.asked.clear()
    issuer.refresh_token = "refresh-0"
    return issuer


async def test_a_token_of_an_identity_provider_is_that_which_kubectl_has_refreshed(
    config: Config, fresh: Issuer, ca: Pair, login_plane: ControlPlane
) -> None:
    path = config(fresh.config(**{"id-token": fresh.token(-60), "idp-certificate-authority": str(ca.certificate)}))
    error = await raised(lambda: logged_in(path))
    assert str(error).endswith("has expired; run a kubectl command, which refreshes it, or use an exec plugin such as kubelogin")
    assert [whoami(login_plane, path), await logged_in(path)] == ["jane", "jane"]


def whoami(login_plane: ControlPlane, path: str) -> str:
    answer = login_plane.kubectl("auth", "whoami", "-o", "json", f"--kubeconfig={path}").stdout
    return str(json.loads(answer)["status"]["userInfo"]["username"])


async def test_we_act_as_whom_the_kubeconfig_says(config: Config, login_plane: ControlPlane) -> None:
    extra = {"example.com/team": ["red", "blue"]}
    user = {"token": login_plane.token, "as": "jane", "as-uid": "7", "as-groups": ["a", "b, c"], "as-user-extra": extra}
    async with connect(kubeconfig=config(user)) as cluster:
        who = (await review(cluster))["status"]["userInfo"]
    assert (who["username"], who["uid"], who["extra"]) == ("jane", "7", extra)
    assert set(who["groups"]) == {"a", "b, c", "system:authenticated"}


async def test_a_right_to_act_as_somebody_that_is_missing_is_said(config: Config, login_plane: ControlPlane) -> None:
    error = await raised(lambda: logged_in(config({"token": login_plane.users["nobody"].token, "as": "jane"})))
    rule = '{apiGroups: [""], resources: ["users"], verbs: ["impersonate"]}'
    assert str(error) == f'user "nobody" may not impersonate users in the whole cluster; a ClusterRole with the rule {rule} allows it'


MERGED: dict[str, tuple[tuple[str, ...], str]] = {
    "the first file's context": (("a", "b"), ""),
    "the other way round": (("b", "a"), ""),
    "a context of the second file": (("a", "b"), "two"),
    "a context of the third file": (("a", "b", "deep/c"), "three"),
    "with files that are missing": (("nowhere", "deep/c", "nothing", "a"), ""),
    "the same file twice": (("b", "b", "deep/c"), ""),
}


@pytest.mark.parametrize("case", MERGED.values(), ids=MERGED)
def test_we_merge_kubeconfigs_as_kubectl_does(
    case: tuple[tuple[str, ...], str], login_plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, context = case
    (tmp_path / "deep").mkdir()
    write(tmp_path / "a", "one", names=("one",), user={"tokenFile": "token-a"})
    write(tmp_path / "b", "two", names=("one", "two"), user={"tokenFile": "deep/token-b"})
    write(tmp_path / "deep" / "c", "three", names=("two", "three"), user={"tokenFile": "../token-c"})
    paths = ":".join(str(tmp_path / name) for name in files)
    chosen = choose(read(locate("", {"KUBECONFIG": paths})), context)
    ours = (chosen.context, chosen.cluster.text("server"), chosen.namespace, chosen.user.text("tokenFile"))
    monkeypatch.setenv("KUBECONFIG", paths)
    assert ours == merged_by_kubectl(login_plane, context)


def merged_by_kubectl(login_plane: ControlPlane, context: str) -> tuple[str, str, str, str]:
    command = [login_plane.programs.path("kubectl"), "config", "view", "--minify", "--raw", "-o", "json", f"--context={context}"]
    view = json.loads(subprocess.run(command, capture_output=True, check=True, env=os.environ | {"KUBERC": "off"}).stdout)
    chosen = view["contexts"][0]
    user, cluster = view["users"][0]["user"], view["clusters"][0]["cluster"]
    return chosen["name"], cluster["server"], chosen["context"]["namespace"], user["tokenFile"]
