"""Who we are, and how long we wait, as a command line says it: on a real server."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from applier.testing.control_plane import ControlPlane

from ..running import Ended, run
from .in_memory import config_map


class Bench:
    def __init__(self, plane: ControlPlane, namespace: str, folder: Path) -> None:
        self.plane, self.namespace = plane, namespace
        self.file = folder / "a.json"
        self.file.write_text(json.dumps(config_map("a", namespace="")))

    def apply(self, *options: str, user: str = "admin") -> Ended:
        return run("apply", str(self.file), "-n", self.namespace, "--kubeconfig", str(self.plane.users[user].kubeconfig), *options)

    def users(self, mark: int) -> set[str]:
        """Who has written since then, by the server's own log."""
        return {request.user for request in self.plane.requests(mark).only(namespace=self.namespace).writes}


@pytest.fixture
def bench(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Bench:
    return Bench(control_plane, namespace, tmp_path)


@pytest.mark.cluster
def test_a_token_goes_before_the_kubeconfigs(bench: Bench) -> None:
    assert bench.apply(user="nobody").code == 2
    mark = bench.plane.mark()
    assert bench.apply("--token", bench.plane.token, user="nobody").code == 0
    assert bench.users(mark) == {"admin"}


@pytest.mark.cluster
def test_we_act_as_whom_we_are_told(bench: Bench) -> None:
    ended = bench.apply("--as", "jane")
    assert ended.code == 2
    assert 'user "jane" may not get configmaps' in ended.err


@pytest.mark.cluster
def test_we_act_as_a_member_of_groups(bench: Bench) -> None:
    assert bench.apply("--as=jane", "--as-group=people", "--as-group=system:masters").code == 0


@pytest.mark.cluster
def test_a_token_that_is_wrong_is_shown_to_nobody(bench: Bench) -> None:
    ended = bench.apply("--token", "hunter2", "-v=8")
    assert ended.code == 2
    assert "does not accept the credentials" in ended.err
    assert "hunter2" not in ended.err + ended.out


@pytest.mark.cluster
def test_requests_are_told_from_six_on(bench: Bench) -> None:
    quiet, told = bench.apply("-v=5"), bench.apply("-v", "6", "--force-conflicts")
    assert quiet.err == ""
    assert f"grove: GET /api/v1/namespaces/{bench.namespace}/configmaps/a 200 in " in told.err


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of a server that takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_server_that_says_nothing_is_given_up_when_we_are_told(silent: str, tmp_path: Path) -> None:
    content = {
        "current-context": "one",
        "clusters": [{"name": "one", "cluster": {"server": silent}}],
        "contexts": [{"name": "one", "context": {"cluster": "one"}}],
    }
    (tmp_path / "config").write_text(yaml.safe_dump(content))
    (tmp_path / "a.json").write_text(json.dumps(config_map("a")))
    began = time.monotonic()
    ended = run("diff", str(tmp_path / "a.json"), "--kubeconfig", str(tmp_path / "config"), "--request-timeout", "300ms")
    assert ended.code == 2
    assert "did not answer in time" in ended.err
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(("given", "code"), [("0", 2), ("1x", 2), ("-3s", 2)])
def test_a_time_that_is_none_is_refused_before_anything_is_asked(given: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(config_map("a")))
    ended = run("diff", str(tmp_path / "a.json"), "--kubeconfig", "/no/such/file", "--request-timeout", given)
    assert ended.code == code
    assert ("there is no kubeconfig" in ended.err) == (given == "0")


@pytest.mark.cluster
def test_yaml_has_what_the_server_fills_in_even_on_trial(bench: Bench) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}}
    bench.file.write_text(json.dumps(service))
    tried = yaml.load(bench.apply("-o", "yaml", "--dry-run", "server").out, yaml.CSafeLoader)
    assert (tried["spec"]["sessionAffinity"], tried["spec"]["ports"][0]["targetPort"]) == ("None", 80)
