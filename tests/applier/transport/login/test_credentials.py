"""Token files, and what a 401 leads to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from applier.errors import CredentialsError, Unauthorized
from applier.transport import ApiCluster, connect
from applier.transport.login.find import find_target

from ..scripted import CONFIG_MAPS, HASTY, Answer, Scripted, config_map, raised, status
from .test_kubeconfig import write

OBJECT = "/api/v1/namespaces/ns/configmaps/a"
REFUSED = status(401, "Unauthorized", "Unauthorized")
DONE = Answer(200, config_map())


def test_an_empty_token_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("\n")
    with pytest.raises(CredentialsError, match=r"the tokenFile of user 'one' of .* is empty"):
        find_target(str(write(tmp_path / "config", "one", user={"tokenFile": "token"})), "", {})


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
        assert [event.type async for event in cluster.watch(CONFIG_MAPS, "ns", resource_version="1")] == ["OPENED"]


async def test_without_newer_credentials_a_401_is_final(server: Scripted, cluster: ApiCluster) -> None:
    server.on("GET", OBJECT, REFUSED)
    assert isinstance(await raised(lambda: cluster.get(CONFIG_MAPS, "ns", "a")), Unauthorized)
    assert len(server.heard) == 1


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
