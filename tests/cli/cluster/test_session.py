"""What is said when there is no cluster to talk to, and what talking to one costs those who do not."""

from __future__ import annotations

import builtins
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grove_cli.cluster.session import minor_version
from grove_cli.extras import install_command

from ..running import ROOT, run
from ..test_start import modules_after
from .in_memory import config_map

COMMANDS = [
    ("diff", "-"),
    ("plan", "-"),
    ("apply", "-"),
    ("delete", "-"),
    ("adopt", "-", "--from", "helm"),
    ("get", "tree", "x"),
]
MANIFEST = json.dumps(config_map("a")).encode()


@pytest.fixture
def without_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra were not installed."""
    for name in [
        name
        for name in sys.modules
        if name.split(".")[0] in ("httptools", "orjson") or name.startswith(("applier.http", "applier.transport"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    real = builtins.__import__

    def guarded(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] in ("httptools", "orjson"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", guarded)


@pytest.mark.usefixtures("without_the_client")
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_without_the_client_one_line_says_what_to_install(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    ended = run(*arguments, stdin=MANIFEST)
    assert (ended.code, ended.out) == (2, "")
    assert install_command("cluster") in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_without_a_kubeconfig_one_line_says_so(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    ended = run(*arguments, stdin=MANIFEST)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith("grove: there is no kubeconfig")


def test_a_compilation_loads_nothing_of_it(tmp_path: Path) -> None:
    code, modules = modules_after(tmp_path, "compile", str(ROOT / "tests" / "cli" / "manifests" / "one-clique.yaml"))
    assert (code, "click" in modules) == (0, True)
    assert not modules & {"httptools", "orjson", "asyncio", "applier", "rich"}


def test_a_diff_of_plain_manifests_loads_neither_the_compiler_nor_what_only_terminals_and_servers_need(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(MANIFEST)
    kubeconfig = tmp_path / "kubeconfig"
    cluster = {"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}
    context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
    kubeconfig.write_text(json.dumps({"clusters": [cluster], "contexts": [context], "users": [{"name": "u"}], "current-context": "c"}))
    code, modules = modules_after(tmp_path, "diff", str(path), "--kubeconfig", str(kubeconfig))
    assert (code, "httptools" in modules) == (2, True), "it tried to talk to the server"
    others = {"rich", "aiohttp", "kubernetes", "grove_compiler.compile", "jinja2", "pydantic", "prometheus_client", "opentelemetry"}
    assert not modules & others


@pytest.mark.parametrize(
    ("said", "version"),
    [({"major": "1", "minor": "35"}, "1.35"), ({"major": "1", "minor": "33+"}, "1.33"), ({"minor": "32"}, "1.32")],
)
def test_the_version_is_that_of_the_server(said: dict[str, str], version: str) -> None:
    assert minor_version(said) == version


def test_help_needs_no_client() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    code = "import sys; sys.modules['httptools'] = None; from grove_cli.entry import run; sys.exit(run(['apply', '--help']))"
    assert subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False).returncode == 0
