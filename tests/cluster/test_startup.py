"""Starting and ending a control plane: what goes wrong is told in the server's words, and nothing outlives its starter."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from applier.testing import assets, control_plane, servers
from applier.testing.control_plane import ControlPlane
from applier.testing.errors import ControlPlaneError, RequestRefused
from applier.testing.users import User

pytestmark = pytest.mark.cluster


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text() if Path("/proc/self/status").exists() else True
    except (ProcessLookupError, FileNotFoundError):  # it may end between any two looks
        return False


def wait_until_dead(pids: list[int]) -> list[int]:
    """Those that are still there after a while."""
    deadline = time.monotonic() + 20
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def children(pid: int) -> list[int]:
    """Linux: the processes that a process has started."""
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]


class Life(NamedTuple):
    """What was seen of a control plane that a thread started which ended, where another process had one of the ports."""

    url: str
    tried: list[list[int]]
    """Ports, one list for each try."""
    answer: Any
    review: Any
    """Who the server says that a user is."""
    without_log: str
    left: list[int]
    """Processes that did not end with it."""
    folder: Path
    afterwards: str


@pytest.fixture(scope="module")
def ended_plane(tmp_path_factory: pytest.TempPathFactory) -> Life:
    real, tried, planes = servers.free_ports, list[list[int]](), list[ControlPlane]()
    folder = tmp_path_factory.mktemp("ended") / "plane"
    with socket.socket() as taken, pytest.MonkeyPatch.context() as patch:
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        def once_a_taken_one(count: int) -> list[int]:
            ports = real(count)
            tried.append(ports if tried else [taken.getsockname()[1], *ports[1:]])
            return tried[-1]

        def start() -> None:
            planes.append(ControlPlane.start(parts=(), users={"team": ["developers"]}, audit=False, folder=folder))

        patch.setattr(servers, "free_ports", once_a_taken_one)
        thread = threading.Thread(target=start)
        thread.start()
        thread.join()
    with planes[0] as plane:
        answer, review = plane.request("GET", "/readyz"), {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        told = plane.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, user="team")
        without_log = refusal(plane.mark)
        pids = [server.process.pid for server in plane.running]
    left = wait_until_dead(pids)
    return Life(plane.url, tried, answer, told, without_log, left, folder, refusal(lambda: plane.request("GET", "/readyz")))


def refusal(ask: Callable[[], object]) -> str:
    with pytest.raises(ControlPlaneError) as told:
        ask()
    return str(told.value)


def test_it_ends_and_leaves_nothing(ended_plane: Life) -> None:
    assert not ended_plane.left
    assert not ended_plane.folder.exists()
    assert ended_plane.afterwards.startswith(f"{ended_plane.url} does not answer")


def test_users_are_in_their_groups(ended_plane: Life) -> None:
    assert ended_plane.review["status"]["userInfo"]["groups"] == ["developers", "system:authenticated"]


def test_without_an_audit_log_it_says_so(ended_plane: Life) -> None:
    assert "without an audit log" in ended_plane.without_log


def test_a_taken_port_is_tried_again_with_another(ended_plane: Life) -> None:
    assert len(ended_plane.tried) == 2
    assert ended_plane.url.endswith(f":{ended_plane.tried[1][0]}")


def test_a_thread_that_started_it_may_end(ended_plane: Life) -> None:
    assert ended_plane.answer == "ok"


def test_a_server_that_does_not_start_says_why_and_its_logs_stay(tmp_path: Path) -> None:
    folder = tmp_path / "plane"
    with pytest.raises(ControlPlaneError) as told:
        ControlPlane.start(parts=(), api_server_flags=["--no-such-flag"], folder=folder)
    assert str(told.value) == f"kube-apiserver has ended: Error: unknown flag: --no-such-flag (logs: {folder / 'logs'})"
    assert "unknown flag" in (folder / "logs" / "kube-apiserver.log").read_text()
    assert not (folder / "data").exists()


STARTS_ONE = """
import sys, time
from pathlib import Path
from applier.testing.control_plane import ControlPlane
plane = ControlPlane.start(parts=(), folder=Path(sys.argv[1]))
print(*(server.process.pid for server in plane.running), flush=True)
time.sleep(float(sys.argv[2]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_process_leaves_no_server(tmp_path: Path) -> None:
    folder = tmp_path / "plane"
    starter = subprocess.Popen([sys.executable, "-c", STARTS_ONE, str(folder), "600"], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    guards = [int(pid) for pid in starter.stdout.readline().split()]
    everyone = guards + [child for guard in guards for child in children(guard)]
    assert len(everyone) == 4
    starter.kill()
    starter.wait()
    starter.stdout.close()
    assert not wait_until_dead(everyone)
    assert not (folder / "data" / "etcd").exists()
    assert (folder / "logs").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="parent death signals are Linux'")
def test_a_killed_guard_takes_its_server_with_it(tmp_path: Path) -> None:
    guarded = servers.launch("sleeper", ["sleep", "600"], tmp_path)
    while not (started := children(guarded.process.pid)):
        time.sleep(0.01)
    os.kill(guarded.process.pid, signal.SIGKILL)
    assert not wait_until_dead(started)
    guarded.stop()


@pytest.mark.parametrize(("ours", "theirs"), [("", "400"), ("50", "50")], ids=["by default", "as the environment says"])
def test_a_server_collects_garbage_rarely(ours: str, theirs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOGC", raising=False)
    if ours:
        monkeypatch.setenv("GOGC", ours)
    server = servers.launch("printer", ["sh", "-c", "echo $GOGC"], tmp_path)
    server.process.wait()
    assert server.log.read_text() == f"{theirs}\n"


def test_a_process_that_just_ends_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "plane"
    done = subprocess.run([sys.executable, "-c", STARTS_ONE, str(folder), "0"], capture_output=True, text=True, check=True)
    assert not wait_until_dead([int(pid) for pid in done.stdout.split()])
    assert not folder.exists()


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("", "its log is empty"),
        (
            'I1121 10:00:00.1 1 a.go:1] fine\nE1121 10:00:00.1 1 run.go:72] "command failed" err="bad"\nI1121 x.go:1] bye\n',
            '"command failed" err="bad"',
        ),
        (
            '{"level":"fatal","msg":"discovery failed","error":"listen tcp: address already in use"}\n',
            "discovery failed: listen tcp: address already in use",
        ),
        ("Error: unknown flag: --x\n", "Error: unknown flag: --x"),
        ("first\nlast\n", "last"),
    ],
)
def test_the_reason_is_the_last_complaint_of_a_log(tmp_path: Path, log: str, reason: str) -> None:
    (tmp_path / "log").write_text(log)
    assert servers.reason(tmp_path / "log") == reason


def test_who_is_unknown_is_refused(control_plane: ControlPlane) -> None:
    stranger = control_plane.users["nobody"]._replace(token="wrong")
    plane = ControlPlane(control_plane.folder, control_plane.url, {"stranger": stranger}, control_plane.programs, ())
    with pytest.raises(RequestRefused) as refused:
        plane.request("GET", "/api", user="stranger")
    assert refused.value.status == 401


def test_a_server_whose_certificate_is_half_written_is_not_ready_yet(tmp_path: Path) -> None:
    plane = ControlPlane(
        tmp_path, "https://127.0.0.1:1", {"admin": User("admin", "token", tmp_path)}, assets.Assets(tmp_path, frozenset()), ()
    )
    plane.certificate_authority.parent.mkdir()
    plane.certificate_authority.write_text("-----BEGIN CERTIFICATE-----\n")
    assert not control_plane._ready(plane)
