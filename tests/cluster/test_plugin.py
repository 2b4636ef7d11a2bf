"""The fixtures as their users meet them: in a test run of its own, with and without processes, with and without a control plane."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from applier.testing import versions

CONFTEST = 'pytest_plugins = ["applier.testing.plugin"]\n'

TESTS = """
import pathlib, pytest

@pytest.mark.cluster
@pytest.mark.parametrize("number", range(6))
def test_cluster(control_plane, namespace, number):
    assert control_plane.request("GET", f"/api/v1/namespaces/{namespace}")
    with (pathlib.Path(__file__).parent / "folders").open("a") as stream:
        print(control_plane.folder, file=stream)

def test_plain():
    pass
"""


def start(folder: Path, *arguments: str, tests: str = TESTS, **environment: str) -> subprocess.Popen[str]:
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_it.py").write_text(tests)
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(folder), *arguments, str(folder)]
    return subprocess.Popen(command, cwd=folder, env=ours | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def envtest(folder: Path, script: str) -> Path:
    """A folder of stand-ins for the programs, as KUBEBUILDER_ASSETS."""
    (folder / "programs").mkdir()
    for name in ("etcd", "kube-apiserver", "kubectl"):
        program = folder / "programs" / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    return folder / "programs"


def run(folder: Path, *arguments: str, tests: str = TESTS, **environment: str) -> str:
    process = start(folder, *arguments, tests=tests, **environment)
    return process.communicate(timeout=120)[0]


@pytest.mark.parametrize("processes", [(), ("-n", "2")])
def test_what_is_left_out_is_told_in_one_line(tmp_path: Path, processes: tuple[str, ...]) -> None:
    said = run(tmp_path, *processes, APPLIER_CONTROL_PLANE=str(tmp_path / "none"), KUBEBUILDER_ASSETS="")
    lines = [line for line in said.splitlines() if "control plane" in line]
    assert len(lines) == 1
    assert re.fullmatch(r"left out 6 tests that need a control plane: `.* -m applier.testing build` builds one, once", lines[0])
    assert "1 passed" in said


def test_without_marked_tests_nothing_is_said(tmp_path: Path) -> None:
    said = run(tmp_path, tests="def test_plain(): pass\n", APPLIER_CONTROL_PLANE=str(tmp_path / "none"), KUBEBUILDER_ASSETS="")
    assert "control plane" not in said


@pytest.mark.cluster
def test_a_run_with_workers_has_one_control_plane_and_ends_it(tmp_path: Path) -> None:
    said = run(tmp_path, "-n", "2", "-o", "control_plane_parts=")
    assert "7 passed" in said
    assert not one_folder(tmp_path).exists()


def one_folder(folder: Path) -> Path:
    """That of the control plane of a run: fails where its six tests had several."""
    folders = (folder / "folders").read_text().split()
    assert len(folders) == 6
    assert len(set(folders)) == 1
    return Path(folders[0])


@pytest.mark.cluster
def test_a_run_without_workers_has_one_control_plane_and_its_logs_are_kept_if_it_fails(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    tests = TESTS + "\n@pytest.mark.cluster\ndef test_fails(control_plane):\n    assert 0\n"
    said = run(tmp_path, "-o", "control_plane_parts=", tests=tests, TMPDIR=str(tmp_path / "tmp"))
    logs = re.search(r"^logs of the control plane: (.*)$", said, re.MULTILINE)
    assert logs is not None
    assert (Path(logs[1]) / "kube-apiserver.log").exists()
    assert not (Path(logs[1]).parent / "data").exists()
    assert Path(logs[1]).parent == one_folder(tmp_path)


@pytest.mark.cluster
def test_a_control_plane_that_does_not_start_fails_each_test_with_the_reason(tmp_path: Path) -> None:
    programs = envtest(tmp_path, "echo Error: out of order; exit 1")
    said = run(tmp_path, "-n", "2", KUBEBUILDER_ASSETS=str(programs), TMPDIR=str(tmp_path))
    assert "6 errors" in said
    assert re.search("the control plane did not start: (etcd|kube-apiserver) has ended: Error: out of order", said)


def test_a_part_that_is_not_there_skips_what_needs_it(tmp_path: Path) -> None:
    programs = envtest(tmp_path, "true")
    tests = 'import pytest\n@pytest.mark.cluster("kwok")\ndef test_nodes(): pass\n'
    said = run(tmp_path, "-rs", tests=tests, KUBEBUILDER_ASSETS=str(programs))
    assert "1 skipped" in said
    assert "kwok not there: see KUBEBUILDER_ASSETS" in said


@pytest.mark.parametrize(("kind", "outcome"), [("plain", "1 passed"), ("restricted", "1 skipped")])
def test_what_only_a_plain_cluster_allows_is_skipped_elsewhere_with_its_reason(tmp_path: Path, kind: str, outcome: str) -> None:
    tests = 'import pytest\n@pytest.mark.plain_cluster("it binds a port of its node")\ndef test_port(): pass\n'
    said = run(tmp_path, "-rs", f"--cluster={kind}", tests=tests)
    assert outcome in said
    assert ("it binds a port of its node" in said) is (kind == "restricted")


VERSIONS = """
import pytest

@pytest.mark.served_since("1.32", "resource.k8s.io/v1beta1")
@pytest.mark.parametrize("version", ["v1beta1", pytest.param("v1", marks=pytest.mark.served_since("1.34", "resource.k8s.io/v1"))])
def test_served(version): pass

def test_plain(): pass
"""


@pytest.mark.parametrize(("version", "outcome"), [("1.32.2", "2 passed, 1 skipped"), ("1.34.0", "3 passed")])
def test_what_an_older_server_lacks_is_skipped_there_with_its_reason(tmp_path: Path, version: str, outcome: str) -> None:
    programs = envtest(tmp_path, f"echo Kubernetes v{version}")
    said = run(tmp_path, "-rs", tests=VERSIONS, KUBEBUILDER_ASSETS=str(programs))
    assert outcome in said
    assert ("resource.k8s.io/v1 needs Kubernetes 1.34, and this is 1.32" in said) is (version == "1.32.2")


@pytest.mark.cluster
def test_what_our_own_programs_have_is_never_skipped(tmp_path: Path) -> None:
    pinned = versions.version("kubernetes").rsplit(".", 1)[0]
    tests = f'import pytest\n@pytest.mark.served_since("{pinned}", "all of this")\ndef test_it(): pass\n'
    assert "1 passed" in run(tmp_path, tests=tests, KUBEBUILDER_ASSETS="")


RESTRICTED = """
import pytest
from applier.testing.errors import RequestRefused

SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
LIMITS = {"resources": {"limits": {"cpu": "1", "memory": "8Mi"}}}

def create(plane, namespace, resource, manifest, user="admin"):
    plane.request("POST", f"/api/v1/namespaces/{namespace}/{resource}", {"apiVersion": "v1", **manifest}, user=user)

@pytest.mark.cluster
@pytest.mark.parametrize(
    ("box", "why"),
    [(LIMITS, "violates PodSecurity"), ({"securityContext": SAFE}, "must specify limits.cpu"), (LIMITS | {"securityContext": SAFE}, "")],
)
def test_pods(control_plane, box, why):
    namespace = control_plane.create_namespace()
    pod = {"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [{"name": "box", "image": "i", **box}]}}
    if not why:
        return create(control_plane, namespace, "pods", pod)
    with pytest.raises(RequestRefused, match=why):
        create(control_plane, namespace, "pods", pod)

@pytest.mark.cluster
def test_owners(control_plane, namespace):
    control_plane.grant("nobody", ["create"], ["configmaps"], namespace=namespace)
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "1", "blockOwnerDeletion": True}
    owned = {"kind": "ConfigMap", "metadata": {"name": "a", "ownerReferences": [owner]}}
    with pytest.raises(RequestRefused, match="cannot set blockOwnerDeletion"):
        create(control_plane, namespace, "configmaps", owned, "nobody")
    create(control_plane, namespace, "configmaps", {"kind": "ConfigMap", "metadata": {"name": "b"}}, "nobody")
"""


@pytest.mark.cluster
def test_a_restricted_cluster_asks_for_limits_security_and_rights_on_owners(tmp_path: Path) -> None:
    said = run(tmp_path, "-n", "2", "--cluster=restricted", "-o", "control_plane_parts=", tests=RESTRICTED)
    assert "4 passed" in said, said


@pytest.mark.cluster
def test_a_killed_run_leaves_no_server(tmp_path: Path) -> None:
    tests = TESTS + "\n@pytest.mark.cluster\ndef test_z(control_plane):\n    import time; time.sleep(600)\n"
    process = start(tmp_path, "-o", "control_plane_parts=", tests=tests)
    while not (tmp_path / "folders").exists() or not (tmp_path / "folders").read_text().endswith("\n"):
        assert process.poll() is None
        time.sleep(0.05)
    folder = Path((tmp_path / "folders").read_text().split()[0]).parent
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 20
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not folder.exists()
