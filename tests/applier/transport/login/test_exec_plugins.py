"""Exec plugins: how they are called, what they may answer, and when they are called again."""

from __future__ import annotations

import asyncio
import base64
import datetime
import io
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from applier.errors import CredentialsError
from applier.transport import connect
from applier.transport.login.exec_plugin import ExecPlugin, utc_now
from applier.transport.login.kubeconfig import choose, read

from ..certificates import authority, needs_openssl, signed
from ..scripted import CONFIG_MAPS, HASTY, Answer, Scripted, config_map, raised, status
from .programs import V1, called, end, plugin, program, runs
from .test_kubeconfig import write

OBJECT = "/api/v1/namespaces/ns/configmaps/a"
REFUSED = status(401, "Unauthorized", "Unauthorized")
DONE = Answer(200, config_map())


def kubeconfig(folder: Path, server: Scripted, user: Any) -> str:
    return str(write(folder / "config", "one", cluster={"server": server.url}, user=user))


def described(folder: Path, user: Any, cluster: Any = None, **more: Any) -> ExecPlugin:
    return ExecPlugin(choose(read([write(folder / "config", "one", cluster=cluster, user=user)]), ""), **more)


async def test_a_plugin_gives_the_token(tmp_path: Path, server: Scripted) -> None:
    server.on("GET", OBJECT, DONE)
    async with connect(kubeconfig=kubeconfig(tmp_path, server, plugin(tmp_path, {"token": "from-plugin"}))) as cluster:
        await cluster.get(CONFIG_MAPS, "ns", "a")
    assert server.heard[0].headers["Authorization"] == "Bearer from-plugin"


async def test_a_plugin_runs_once_for_many_requests(tmp_path: Path, server: Scripted) -> None:
    server.on("GET", OBJECT, DONE)
    answer = {"token": "t", "expirationTimestamp": end(3600)}
    async with connect(kubeconfig=kubeconfig(tmp_path, server, plugin(tmp_path, answer))) as cluster:
        await asyncio.gather(*(cluster.get(CONFIG_MAPS, "ns", "a") for _ in range(8)))
    assert runs(tmp_path) == 1


async def test_a_401_runs_a_plugin_again(tmp_path: Path, server: Scripted) -> None:
    server.on("GET", OBJECT, REFUSED, DONE)
    async with connect(kubeconfig=kubeconfig(tmp_path, server, plugin(tmp_path, {"token": "old"}, {"token": "new"}))) as cluster:
        await cluster.get(CONFIG_MAPS, "ns", "a")
    assert [heard.headers["Authorization"] for heard in server.heard] == ["Bearer old", "Bearer new"]


async def test_a_plugin_that_gives_the_refused_token_again_ends_it(tmp_path: Path, server: Scripted) -> None:
    server.on("GET", OBJECT, REFUSED)
    async with connect(kubeconfig=kubeconfig(tmp_path, server, plugin(tmp_path, {"token": "same"}))) as cluster:
        await raised(lambda: cluster.get(CONFIG_MAPS, "ns", "a"))
    assert (len(server.heard), runs(tmp_path)) == (1, 2)


async def test_many_refused_requests_run_a_plugin_once(tmp_path: Path, server: Scripted) -> None:
    server.on("GET", OBJECT, *[REFUSED] * 8, DONE)
    user = plugin(tmp_path, {"token": "old"}, {"token": "new"}, {"token": "newer"})
    async with connect(kubeconfig=kubeconfig(tmp_path, server, user), retries=HASTY) as cluster:
        await asyncio.gather(*(cluster.get(CONFIG_MAPS, "ns", "a") for _ in range(8)))
    assert runs(tmp_path) == 2


async def test_a_plugin_that_fails_is_not_run_for_each_request_that_waits(tmp_path: Path, server: Scripted) -> None:
    async with connect(kubeconfig=kubeconfig(tmp_path, server, program(tmp_path, "sys.exit(3)"))) as cluster:
        await asyncio.gather(*(raised(lambda: cluster.get(CONFIG_MAPS, "ns", "a")) for _ in range(8)))
    assert runs(tmp_path) == 1


async def test_a_certificate_that_is_none_is_said_each_time(tmp_path: Path) -> None:
    user = plugin(tmp_path, {"token": "t", "clientCertificateData": "none", "clientKeyData": "none"})
    path = str(write(tmp_path / "config", "one", cluster={"server": "https://127.0.0.1:1"}, user=user))
    async with connect(kubeconfig=path, retries=HASTY) as cluster:
        errors = [str(await raised(lambda: cluster.get(CONFIG_MAPS, "ns", "a"))) for _ in range(2)]
    assert all("its client certificate cannot be used" in error for error in errors)


async def test_a_token_goes_before_a_plugin(tmp_path: Path, server: Scripted) -> None:
    server.on("GET", OBJECT, DONE)
    async with connect(kubeconfig=kubeconfig(tmp_path, server, plugin(tmp_path) | {"token": "t"})) as cluster:
        await cluster.get(CONFIG_MAPS, "ns", "a")
    assert runs(tmp_path) == 0


@needs_openssl
async def test_an_answer_ends_with_its_certificate(tmp_path: Path) -> None:
    certificate, key = signed(authority(tmp_path), "client", days=1).pem
    answer = {"clientCertificateData": certificate, "clientKeyData": key, "expirationTimestamp": end(7 * 86400)}
    granted = await described(tmp_path, plugin(tmp_path, answer)).run()
    assert granted.until is not None
    assert granted.until < utc_now() + datetime.timedelta(days=1)


FAILING: dict[str, tuple[Callable[[Path], dict[str, Any]], str]] = {
    "missing": (
        lambda _: {"exec": {"apiVersion": V1, "command": "no-such-plugin", "installHint": "Install it\nwith \x1b[31mpip\x1b[0m."}},
        "its exec plugin 'no-such-plugin' is not installed; Install it with pip .",
    ),
    "missing beside its kubeconfig": (
        lambda _: {"exec": {"apiVersion": V1, "command": "./bin/p"}},
        "its exec plugin './bin/p' is not installed; install it, or put it on PATH",
    ),
    "no program": (lambda folder: {"exec": {"apiVersion": V1, "command": str(folder)}}, "cannot be run: "),
    "ended badly": (lambda folder: program(folder, "sys.exit('log in\\nfirst')"), "failed with exit code 1: log in first"),
    "ended badly with many words": (lambda folder: program(folder, "sys.exit('x' * 999 + 'end')"), "failed with exit code 1: … xxx"),
    "ended by a signal": (lambda folder: program(folder, "os.kill(os.getpid(), 9)"), "was ended by signal 9"),
    "no credentials": (lambda folder: plugin(folder, {}), "returned neither a token nor a client certificate with its key"),
    "half a pair": (
        lambda folder: plugin(folder, {"token": "t", "clientKeyData": "k"}),
        "returned neither a token nor a client certificate",
    ),
    "no JSON": (lambda folder: program(folder, "print('Welcome! secret')"), "did not answer with JSON; it must print an ExecC"),
    "nothing": (lambda folder: program(folder, ""), "did not answer with JSON"),
    "another kind": (
        lambda folder: program(folder, 'print(\'{"kind": "Pod"}\')'),
        "did not answer with an ExecCredential that has a status",
    ),
    "another version": (
        lambda folder: program(folder, "print(json.dumps({'kind': 'ExecCredential', 'apiVersion': 'x/v2', 'status': {}}))"),
        f"answers in x/v2, but the kubeconfig requests {V1}",
    ),
    "an end that is no time": (
        lambda folder: plugin(folder, {"token": "t", "expirationTimestamp": "soon"}),
        "returned the expiry 'soon', which is not",
    ),
    "a token of several lines": (lambda folder: plugin(folder, {"token": "secret\nX-Evil: 1"}), "has spaces, line breaks or other"),
    "a number": (lambda folder: plugin(folder, {"token": 7}), "is not a string in YAML; put it in quotes"),
    "no command": (lambda _: {"exec": {"apiVersion": V1}}, "its exec plugin has no command"),
    "no version": (lambda _: {"exec": {"command": "p"}}, "its exec plugin 'p' has no apiVersion"),
    "an old version": (
        lambda _: {"exec": {"command": "p", "apiVersion": "client.authentication.k8s.io/v1alpha1"}},
        "has the apiVersion 'client.authentication.k8s.io/v1alpha1'; client.authentication.k8s.io/v1 and",
    ),
    "another mode": (
        lambda folder: plugin(folder, interactiveMode="Sometimes"),
        "has the interactiveMode 'Sometimes'; expected one of Never",
    ),
    "a terminal that is not there": (
        lambda folder: plugin(folder, interactiveMode="Always"),
        "needs a terminal to prompt, and standard input",
    ),
    "arguments that are no text": (lambda folder: plugin(folder, args=[1]), "put numbers in quotes"),
    "arguments that are no list": (lambda folder: plugin(folder, args="a"), "must be a list of strings"),
    "a variable without a name": (lambda folder: plugin(folder, env=[{"value": "v"}]), "has an env that is not a list of named variables"),
    "a variable that is no text": (lambda folder: plugin(folder, env=[{"name": "A", "value": 1}]), "put it in quotes"),
    "no map": (lambda _: {"exec": "aws"}, "its exec plugin has no command"),
    "another way to log in beside it": (
        lambda folder: plugin(folder) | {"auth-provider": {"name": "oidc"}},
        "both exec and an auth-provider",
    ),
}


@pytest.mark.parametrize("case", FAILING.values(), ids=FAILING)
async def test_a_plugin_that_fails_is_one_sentence(
    case: tuple[Callable[[Path], dict[str, Any]], str], tmp_path: Path, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, says = case
    monkeypatch.setattr("sys.stdin", io.StringIO())
    path = kubeconfig(tmp_path, server, user(tmp_path))

    async def ask() -> None:
        async with connect(kubeconfig=path, retries=HASTY) as cluster:
            await cluster.get(CONFIG_MAPS, "ns", "a")

    error = await raised(ask)
    assert isinstance(error, CredentialsError)
    assert says in str(error)
    assert not {"\n", "\x1b", "secret"} & {*str(error), *str(error).split()}
    assert server.heard == []


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are started."""
    processes: list[subprocess.Popen[bytes]] = []

    class Recorded(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    return processes


HANGING = {"exec": {"apiVersion": V1, "command": "sleep", "args": ["600"]}}


async def test_a_plugin_that_hangs_is_ended_and_said(tmp_path: Path, started: list[subprocess.Popen[bytes]]) -> None:
    asks = {"exec": {"apiVersion": V1, "command": "sh", "args": ["-c", "echo open https://login >&2; exec sleep 600"]}}
    error = await raised(described(tmp_path, asks, timeout=0.5).run)
    assert str(error).endswith("its exec plugin 'sh' has not finished after 0.5 s: open https://login; does it wait for a login?")
    assert started[0].returncode == -9


async def test_a_plugin_ends_when_nobody_waits_for_it_any_more(tmp_path: Path, started: list[subprocess.Popen[bytes]]) -> None:
    waiting = asyncio.create_task(described(tmp_path, HANGING).run())
    while not started:
        await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert started[0].returncode == -9


async def test_a_plugin_is_told_what_it_is_asked_for(tmp_path: Path) -> None:
    await described(tmp_path, plugin(tmp_path, {"token": "t"})).run()
    assert called(tmp_path)["info"] == {"apiVersion": V1, "kind": "ExecCredential", "spec": {"interactive": False}}


@pytest.fixture
def standard_input() -> Iterator[None]:
    """Manifests that somebody pipes into us."""
    reading, writing = os.pipe()
    os.write(writing, b"manifests")
    os.close(writing)
    saved = os.dup(0)
    os.dup2(reading, 0)
    yield
    os.dup2(saved, 0)
    os.close(saved)
    os.close(reading)


@pytest.mark.usefixtures("standard_input")
@pytest.mark.parametrize("mode", ["Never", "IfAvailable"])
async def test_a_plugin_cannot_read_what_is_piped_into_us(mode: str, tmp_path: Path) -> None:
    await described(tmp_path, plugin(tmp_path, {"token": "t"}, interactiveMode=mode)).run()
    assert called(tmp_path)["stdin"] == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


MODES = {"Never": False, "IfAvailable": True, "Always": True}


@pytest.mark.usefixtures("standard_input")
@pytest.mark.parametrize("mode", MODES)
async def test_a_plugin_may_ask_people_where_there_is_a_terminal(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal())
    await described(tmp_path, plugin(tmp_path, {"token": "t"}, interactiveMode=mode)).run()
    how = called(tmp_path)
    assert (how["info"]["spec"]["interactive"], how["stdin"]) == (MODES[mode], "manifests" if MODES[mode] else "")


async def test_people_see_what_a_plugin_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    user = {"exec": {"apiVersion": V1, "command": "sh", "args": ["-c", "echo enter code 1234 >&2; exit 1"]}}
    error = await raised(described(tmp_path, user).run)
    assert capfd.readouterr().err == "enter code 1234\n"
    assert str(error).endswith("its exec plugin 'sh' failed with exit code 1")


async def test_a_plugin_that_asks_for_it_is_told_of_the_cluster(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("authority")
    cluster = {
        "server": "https://127.0.0.1:1",
        "certificate-authority": "ca.crt",
        "tls-server-name": "api",
        "extensions": [
            {"name": "other", "extension": 1},
            {"name": "client.authentication.k8s.io/exec", "extension": {"since": datetime.date(2026, 1, 1)}},
        ],
    }
    await described(tmp_path, plugin(tmp_path, {"token": "t"}, provideClusterInfo=True), cluster).run()
    assert called(tmp_path)["info"]["spec"]["cluster"] == {
        "server": "https://127.0.0.1:1",
        "certificate-authority-data": base64.b64encode(b"authority").decode(),
        "tls-server-name": "api",
        "config": {"since": "2026-01-01"},
    }


async def test_what_a_plugin_gave_is_in_no_representation(tmp_path: Path) -> None:
    granted = await described(tmp_path, plugin(tmp_path, {"token": "hunter2"})).run()
    assert "hunter2" not in repr(granted)


async def test_a_plugin_gets_its_arguments_and_variables_and_stays_in_our_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    user = plugin(tmp_path, {"token": "t"}, env=[{"name": "PROFILE", "value": "team-a"}, {"name": "EMPTY"}])
    user["exec"]["args"] += ["get-token", "--region=eu"]
    await described(tmp_path, user).run()
    how = called(tmp_path)
    assert (how["arguments"], how["environment"]["PROFILE"], how["environment"]["EMPTY"], how["folder"]) == (
        ["get-token", "--region=eu"],
        "team-a",
        "",
        str(tmp_path / "here"),
    )


async def test_a_command_with_a_slash_is_beside_its_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "login"
    answer = {"apiVersion": V1, "kind": "ExecCredential", "status": {"token": "t"}}
    script.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    script.chmod(0o755)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    granted = await described(tmp_path, {"exec": {"apiVersion": V1, "command": "./bin/login"}}).run()
    assert granted.header == "Bearer t"
