"""`grove initc`: its flags and files are those of the shipped init container."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from applier.testing.control_plane import ControlPlane
from tests.definitions import with_definitions

from ..cli.running import run
from .pods import clique, pod


@pytest.fixture
def pod_info(tmp_path: Path) -> Path:
    (tmp_path / "namespace").write_text("ml")
    (tmp_path / "podgangname").write_text("demo-0\n")
    return tmp_path


@pytest.mark.parametrize("value", ["router", "router:", "router:0", "router:-1", "router:x", ":1", "", "router:1.5", "router:²"])
def test_a_value_that_names_no_clique_and_count_is_refused(value: str, pod_info: Path) -> None:
    ended = run("initc", f"--podcliques={value}", "--pod-info", str(pod_info))
    assert ended.code == 2
    assert repr(value) in ended.err or repr(value.rpartition(":")[2]) in ended.err


@pytest.mark.parametrize("name", ["namespace", "podgangname"])
@pytest.mark.parametrize(("text", "why"), [(None, "cannot be read"), ("", "is empty"), ("\n", "is empty")])
def test_a_file_that_is_missing_or_empty_is_named(name: str, text: str | None, why: str, pod_info: Path) -> None:
    (pod_info / name).unlink() if text is None else (pod_info / name).write_text(text)
    ended = run("initc", "-p", "router:1", "--pod-info", str(pod_info))
    assert ended.code == 2
    assert f"{pod_info / name} {why}" in " ".join(ended.err.split())


def test_without_cliques_there_is_nothing_to_wait_for() -> None:
    assert run("initc").code == 0


def test_the_arguments_that_the_rules_write_are_understood(pod_info: Path) -> None:
    compiled = run("compile", "examples/explicit-startup-order.yaml", "--pods")
    pods = [each for each in yaml.load_all(compiled.out, yaml.CSafeLoader) if each["kind"] == "Pod"]
    containers = [one for each in pods for one in each["spec"].get("initContainers", []) if one["name"] == "grove-initc"]
    assert containers
    (pod_info / "namespace").unlink()  # so that it ends behind the arguments
    for container in containers:
        ended = run("initc", *container["args"], "--pod-info", str(pod_info))
        assert "cannot be read" in ended.err


def test_a_pod_without_a_token_waits_for_it(pod_info: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container that ended would be restarted after up to five minutes, or never: `restartPolicy: Never` is the default of training."""
    monkeypatch.setenv("KUBECONFIG", str(pod_info / "none"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    ended = run("initc", "-p", "router:1", "--pod-info", str(pod_info), "--timeout=1")
    assert (ended.code, ended.err.splitlines()[-1]) == (1, "grove: not within 1 s: router (0 of 1 ready)")
    assert "cannot log in; retrying" in ended.err


def test_a_pod_that_is_deleted_while_it_waits_ends_in_order(pod_info: Path) -> None:
    environment = {**os.environ, "KUBECONFIG": str(pod_info / "none")}
    command = [sys.executable, "-m", "grove_cli", "initc", "-p", "router:1", "--pod-info", str(pod_info)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.terminate()
        said = process.stderr.read()
    assert (process.returncode, said.splitlines()[-1]) == (143, "grove: ended while waiting for router (0 of 1 ready)")
    assert "Traceback" not in said


@pytest.fixture
def gang(control_plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A namespace whose pods a user without any other right may read, as the init container's service account may."""
    namespace = control_plane.create_namespace("initc-")
    (tmp_path / "namespace").write_text(namespace)
    (tmp_path / "podgangname").write_text("demo-0")
    monkeypatch.setenv("KUBECONFIG", str(control_plane.users["nobody"].kubeconfig))
    control_plane.grant("nobody", ["get", "list", "watch"], ["pods", "pods/status"], namespace=namespace)
    yield namespace
    control_plane.delete_namespace(namespace)


@pytest.mark.cluster
def test_it_needs_no_more_than_the_role_that_the_rules_make(gang: str, tmp_path: Path, control_plane: ControlPlane) -> None:
    ready = pod("demo-0-router-x", "demo-0-router")
    ready["metadata"]["namespace"] = gang
    del ready["metadata"]["uid"]
    cliques = f"/apis/grove.io/v1alpha1/namespaces/{gang}/podcliques"
    owner = with_definitions(control_plane).request("POST", cliques, clique("demo-0-router"))
    ready["metadata"]["ownerReferences"][0]["uid"] = owner["metadata"]["uid"]  # that of nobody would be garbage
    path = f"/api/v1/namespaces/{gang}/pods"
    control_plane.request("POST", path, ready)
    control_plane.request(
        "PATCH", f"{path}/demo-0-router-x/status", {"status": ready["status"]}, content_type="application/merge-patch+json"
    )
    ended = run("initc", "-p", "demo-0-router:1", "--pod-info", str(tmp_path), "--timeout=60")
    assert ended.code == 0, ended.err
    assert ended.err.splitlines()[-1] == "grove: all are ready: demo-0-router"


@pytest.mark.cluster
@pytest.mark.usefixtures("gang")
def test_what_keeps_it_waiting_is_said_at_the_end_of_the_time(tmp_path: Path) -> None:
    ended = run("initc", "-p", "demo-0-router:2", "--pod-info", str(tmp_path), "--timeout=1")
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == "grove: not within 1 s: demo-0-router (0 of 2 ready)"
