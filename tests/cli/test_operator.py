"""What `grove operator run` says of wrong files and options before it asks a server anything."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from grove_cli.operator.configuration import log_unused
from grove_compiler.source.document import Document
from grove_operator.controller.log import Log
from tests.cli.running import run

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""
FILES = {
    "a configuration that is no YAML": ("--config", "kind: [\n", "1 error"),
    "a ConfigMap without a configuration": ("--config", "apiVersion: v1\nkind: ConfigMap\ndata: {x: y}\n", "expected a ConfigMap with one"),
    "an empty configuration": ("--config", "", "expected one OperatorConfiguration, found no documents"),
    "a misspelt verb": ("--rules", "rule: own/x\ndoc: Does.\ngenrate: pod.yaml\n", "genrate"),
}


@pytest.fixture
def kubeconfig(tmp_path: Path) -> str:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG)
    return str(path)


@pytest.mark.parametrize(("option", "text", "told"), FILES.values(), ids=FILES)
def test_a_wrong_file_is_told_in_its_own_words(option: str, text: str, told: str, kubeconfig: str, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    file = folder / "own.yaml"
    file.write_text(text)
    given = str(file if option == "--config" else folder)
    ended = run("operator", "run", "--kubeconfig", kubeconfig, option, given)
    assert ended.code == 2
    assert told in ended.err
    assert "internal error" not in ended.err
    assert "cannot reach" not in ended.err


def test_a_namespace_that_no_server_could_have_is_refused(kubeconfig: str) -> None:
    ended = run("operator", "run", "--kubeconfig", kubeconfig, "-n", "Bad_NS")
    assert (ended.code, "Bad_NS" in ended.err) == (2, True)


def told_of(configuration: dict[str, Any], *, with_webhooks: bool = True) -> str:
    """The line of the log about fields without effect."""
    stream = io.StringIO()
    log_unused(Document(configuration), Log(stream, {"logFormat": "json"}), with_webhooks=with_webhooks)
    return stream.getvalue()


def test_fields_that_have_no_effect_are_named_in_the_log() -> None:
    profiles = [{"name": "kai-scheduler"}, {"name": "default-scheduler", "config": {"gangScheduling": True}}]
    line = told_of({"debugging": {"enableProfiling": True}, "scheduler": {"profiles": profiles}})
    assert json.loads(line)["fields"] == "debugging.enableProfiling, scheduler.profiles[].config.gangScheduling"


def test_of_fields_that_have_one_nothing_is_said() -> None:
    assert told_of({"logLevel": "info", "scheduler": {"profiles": [{"name": "kai-scheduler"}]}}) == ""


def test_an_operator_without_webhooks_names_what_only_they_would_do() -> None:
    given = {"authorizer": {"enabled": True}, "admission": {"mnnvlWebhooks": False}}
    assert json.loads(told_of(given, with_webhooks=False))["fields"] == "authorizer.enabled"
    assert told_of(given) == ""
