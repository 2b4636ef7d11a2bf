"""Credentials that are renewed: token files, plugins, and what a 401 leads to."""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from applier.errors import CredentialsError, Unauthorized
from applier.transport import ApiCluster, connect
from applier.transport.credentials import REREAD, TokenFile
from applier.transport.kubeconfig import choose, read
from applier.transport.plugins import Plugin

from .scripted import CONFIG_MAPS, HASTY, Answer, Scripted, config_map, raised, status
from .test_kubeconfig import write

OBJECT = "/api/v1/namespaces/ns/configmaps/a"
REFUSED = status(401, "Unauthorized", "Unauthorized")
DONE = Answer(200, config_map())


class Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


def test_a_token_file_is_read_again_after_a_while(tmp_path: Path) -> None:
    clock = Clock()
    (tmp_path / "token").write_text("old")
    file = TokenFile(tmp_path / "token", now=clock)
    clock.time = REREAD / 2
    assert not file.due()
    clock.time = REREAD * 2
    assert file.due()


async def test_a_renewed_token_file_gives_the_new_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old")
    file = TokenFile(tmp_path / "token")
    (tmp_path / "token").write_text("new")
    assert await file.renew()
    assert file.authorization() == "Bearer new"


async def test_a_token_file_that_did_not_change_is_nothing_new(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old")
    assert not await TokenFile(tmp_path / "token").renew()


async def test_a_token_file_that_is_away_for_a_moment_leaves_the_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old")
    file = TokenFile(tmp_path / "token")
    (tmp_path / "token").unlink()
    assert not await file.renew()
    assert file.authorization() == "Bearer old"


def test_an_empty_token_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\n")
    with pytest.raises(CredentialsError, match="is empty"):
        TokenFile(tmp_path / "token")


def kubeconfig(tmp_path: Path, server: Scripted, user: Any) -> str:
    return str(write(tmp_path / "config", "one", cluster={"server": server.url}, user=user))


async def test_a_401_reads_the_token_again_and_asks_again(tmp_path: Path, server: Scripted) -> None:
    (tmp_path / "token").write_text("old")
    server.on("GET", OBJECT, REFUSED, DONE)
    async with connect(kubeconfig=kubeconfig(tmp_path, server, {"tokenFile": "token"}), retries=HASTY) as cluster:
        (tmp_path / "token").write_text("new")
        await cluster.get(CONFIG_MAPS, "ns", "a")
    assert [heard.headers["Authorization"] for heard in server.heard] == ["Bearer old", "Bearer new"]


async def test_a_401_opens_a_watch_again_as_well(tmp_path: Path, server: Scripted) -> None:
    (tmp_path / "token").write_text("old")
    server.on("GET", "/api/v1/namespaces/ns/configmaps", REFUSED, Answer(200, ""))
    async with connect(kubeconfig=kubeconfig(tmp_path, server, {"tokenFile": "token"}), retries=HASTY) as cluster:
        (tmp_path / "token").write_text("new")
        assert [event async for event in cluster.watch(CONFIG_MAPS, "ns", resource_version="1")] == []


async def test_without_newer_credentials_a_401_is_final(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", OBJECT, REFUSED)
    assert isinstance(await raised(lambda: cluster.get(CONFIG_MAPS, "ns", "a")), Unauthorized)
    assert len(server.heard) == 1


def plugin(tmp_path: Path, *answers: dict[str, Any], code: int = 0, said: str = "") -> dict[str, Any]:
    """An exec plugin that gives these answers in turn, and writes down how often it ran."""
    script = tmp_path / "plugin.py"
    script.write_text(f"""
import json, pathlib, sys
runs = pathlib.Path({str(tmp_path / "runs")!r})
number = len(runs.read_text()) if runs.exists() else 0
runs.write_text("x" * (number + 1))
sys.stderr.write({said!r})
answers = json.loads({json.dumps(json.dumps(answers))})
status = answers[min(number, len(answers) - 1)] if answers else {{}}
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}}))
sys.exit({code})
""")
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable, "args": [str(script)]}}


def runs(tmp_path: Path) -> int:
    return len((tmp_path / "runs").read_text())


def end(seconds: float) -> str:
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


async def test_an_exec_plugin_gives_the_token(tmp_path: Path, server: Scripted) -> None:
    server.on("GET", OBJECT, DONE)
    async with connect(kubeconfig=kubeconfig(tmp_path, server, plugin(tmp_path, {"token": "from-plugin"}))) as cluster:
        await cluster.get(CONFIG_MAPS, "ns", "a")
    assert server.heard[0].headers["Authorization"] == "Bearer from-plugin"


async def test_an_exec_plugin_runs_once_for_many_requests(tmp_path: Path, server: Scripted) -> None:
    server.on("GET", OBJECT, DONE)
    async with connect(
        kubeconfig=kubeconfig(tmp_path, server, plugin(tmp_path, {"token": "t", "expirationTimestamp": end(3600)}))
    ) as cluster:
        await asyncio.gather(*(cluster.get(CONFIG_MAPS, "ns", "a") for _ in range(8)))
    assert runs(tmp_path) == 1


async def test_an_exec_plugin_runs_again_before_its_token_ends(tmp_path: Path, server: Scripted) -> None:
    server.on("GET", OBJECT, DONE)
    answers = {"token": "short", "expirationTimestamp": end(30)}, {"token": "long", "expirationTimestamp": end(3600)}
    async with connect(kubeconfig=kubeconfig(tmp_path, server, plugin(tmp_path, *answers))) as cluster:
        for _ in range(3):
            await cluster.get(CONFIG_MAPS, "ns", "a")
    assert [heard.headers["Authorization"] for heard in server.heard][1:] == ["Bearer long", "Bearer long"]


async def test_a_401_runs_an_exec_plugin_again(tmp_path: Path, server: Scripted) -> None:
    server.on("GET", OBJECT, REFUSED, DONE)
    async with connect(kubeconfig=kubeconfig(tmp_path, server, plugin(tmp_path, {"token": "old"}, {"token": "new"}))) as cluster:
        await cluster.get(CONFIG_MAPS, "ns", "a")
    assert [heard.headers["Authorization"] for heard in server.heard] == ["Bearer old", "Bearer new"]


V1 = "client.authentication.k8s.io/v1"
MISSING = {"exec": {"apiVersion": V1, "command": "no-such-plugin", "installHint": "Install it\nwith pip."}}
FAILING: dict[str, tuple[Callable[[Path], dict[str, Any]], str]] = {
    "missing": (lambda _: MISSING, "its exec plugin 'no-such-plugin' is not there; Install it with pip."),
    "ended badly": (lambda folder: plugin(folder, code=3, said="log in first"), "failed: exec: process returned 3. log in first"),
    "no credentials": (lambda folder: plugin(folder, {}), "gave neither a token nor a client certificate with its key"),
    "no command": (lambda _: {"exec": {"apiVersion": V1}}, "missing key 'command'"),
}


@pytest.mark.parametrize("case", FAILING.values(), ids=FAILING)
async def test_an_exec_plugin_that_fails_is_one_sentence(case: tuple[Callable[[Path], dict[str, Any]], str], tmp_path: Path) -> None:
    user, says = case
    chosen = choose(read([write(tmp_path / "config", "one", user=user(tmp_path))]), "")
    error = await raised(lambda: Plugin(chosen).renew())
    assert isinstance(error, CredentialsError)
    assert says in str(error)
    assert "\n" not in str(error)


async def test_an_exec_plugin_that_fails_is_not_run_for_each_request_that_waits(tmp_path: Path, server: Scripted) -> None:
    async with connect(kubeconfig=kubeconfig(tmp_path, server, plugin(tmp_path, code=3))) as cluster:
        await asyncio.gather(*(raised(lambda: cluster.get(CONFIG_MAPS, "ns", "a")) for _ in range(8)))
    assert runs(tmp_path) == 1


def web_token(seconds: float) -> str:
    """A JSON web token that nobody signed."""
    import base64

    parts = [{"alg": "none"}, {"exp": (datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)).timestamp()}]
    return ".".join([*(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts), "x"])


def oidc(tmp_path: Path, token: str) -> Plugin:
    user = {"auth-provider": {"name": "oidc", "config": {"id-token": token, "idp-issuer-url": "https://issuer.invalid"}}}
    return Plugin(choose(read([write(tmp_path / "config", "one", user=user)]), ""))


async def test_a_token_of_an_identity_provider_is_used_while_it_holds(tmp_path: Path) -> None:
    token = web_token(3600)
    credentials = oidc(tmp_path, token)
    await credentials.renew()
    assert (credentials.authorization(), credentials.due()) == (f"Bearer {token}", False)


async def test_a_provider_that_gives_no_token_is_said(tmp_path: Path) -> None:
    error = await raised(lambda: oidc(tmp_path, "no-token").renew())
    assert "its auth-provider 'oidc' gave no token" in str(error)


def test_a_plain_kubeconfig_does_not_load_the_kubernetes_package(tmp_path: Path) -> None:
    import subprocess

    path = write(tmp_path / "config", "one")
    code = f"""
import asyncio, sys
from applier.transport import connect
async def main():
    async with connect(kubeconfig={str(path)!r}):
        pass
asyncio.run(main())
assert not {{name.partition(".")[0] for name in sys.modules}} & {{"kubernetes", "requests", "rich", "pydantic"}}
"""
    subprocess.run([sys.executable, "-c", code], check=True)
