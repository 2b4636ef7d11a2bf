"""Opening and closing connections, and the loop that they run in."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from applier.errors import CredentialsError
from applier.transport import connect, run
from tests.connecting import connect_to

from .login.test_kubeconfig import write
from .scripted import CONFIG_MAPS, Answer, Scripted, config_map, raised


async def test_connecting_sends_nothing(server: Scripted, tmp_path: Path) -> None:
    async with connect(kubeconfig=str(write(tmp_path / "config", "one", cluster={"server": server.url}))):
        pass
    assert server.heard == []


async def test_a_cluster_says_where_it_is(tmp_path: Path) -> None:
    async with connect(kubeconfig=str(write(tmp_path / "team-a", "one"))) as cluster:
        assert (cluster.server, cluster.namespace) == ("https://team-a-one", "team-a")


async def test_the_environment_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(write(tmp_path / "config", "one", names=("one", "two"))))
    async with connect(context="two") as cluster:
        assert cluster.server == "https://config-two"


async def test_a_kubeconfig_that_is_missing_is_said() -> None:
    async def opened() -> None:
        async with connect(kubeconfig="/no/such/file"):
            pass

    assert isinstance(await raised(opened), CredentialsError)


async def test_connections_are_kept_for_the_next_request(server: Scripted) -> None:
    server.on("GET", "/api/v1/namespaces/ns/configmaps/a", Answer(200, config_map()))
    async with connect_to(server.url) as cluster:
        for _ in range(5):
            await cluster.get(CONFIG_MAPS, "ns", "a")
        assert cluster.wire.connections == 1


async def test_errors_name_the_context(tmp_path: Path) -> None:
    path = write(tmp_path / "config", "one", cluster={"server": "http://127.0.0.1:1"})
    async with connect(kubeconfig=str(path)) as cluster:
        error = await raised(cluster.version)
    assert str(error).startswith(f"cannot reach http://127.0.0.1:1 (context 'one' of {path}): the connection is refused")


def test_a_loop_of_our_own_runs_to_the_end() -> None:
    async def main() -> str:
        await asyncio.sleep(0)
        return type(asyncio.get_running_loop()).__module__.partition(".")[0]

    assert run(main()) in ("uvloop", "asyncio")


def test_what_fails_in_the_loop_fails_outside() -> None:
    async def main() -> None:
        raise KeyError("a")

    with pytest.raises(KeyError):
        run(main())
