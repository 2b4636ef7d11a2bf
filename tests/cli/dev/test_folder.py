"""The folder of a development cluster: whose it is, who keeps the cluster, and what is deleted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grove_cli.cluster.session import Failed
from grove_cli.dev.folder import DevCluster, Folder

from ..processes import environment

KEEPS = "import sys, pathlib; from grove_cli.dev.folder import Folder; print(Folder(pathlib.Path(sys.argv[1])).keep(), flush=True)"


def keeper(folder: Folder, then: str = "sys.stdin.read()") -> subprocess.Popen[str]:
    """A process that keeps a cluster until its standard input is closed, once it does."""
    command = [sys.executable, "-c", f"{KEEPS}; {then}", str(folder.path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    prepared = Folder(tmp_path / "dev")
    prepared.prepare()
    return prepared


def test_it_is_in_the_folder_for_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert Folder.chosen(None).path == Path("/home/me/.local/state/grove/dev")
    monkeypatch.setenv("XDG_STATE_HOME", "/var/me")
    assert Folder.chosen(None).path == Path("/var/me/grove/dev")
    monkeypatch.setenv("XDG_STATE_HOME", "me")
    assert Folder.chosen(None).path == Path("/home/me/.local/state/grove/dev"), "relative ones are ignored, as XDG says"


def test_a_folder_may_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert Folder.chosen("mine").path == tmp_path / "mine"


def test_nobody_else_reads_the_tokens(folder: Folder) -> None:
    assert folder.path.stat().st_mode & 0o077 == 0


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(Failed, match=r"is not empty, and not a directory of `grove dev`"):
        Folder(tmp_path).prepare()


def test_what_somebody_else_has_put_there_stays(folder: Folder) -> None:
    (folder.path / "notes").touch()
    folder.bin.mkdir()
    folder.clear()
    folder.forget()
    assert [path.name for path in folder.path.iterdir()] == ["notes"]


def test_the_folder_goes_with_its_cluster(folder: Folder) -> None:
    folder.publish(DevCluster(1, 0, operator=False, kubernetes="1.35.4"))
    folder.clear()
    folder.forget()
    assert not folder.path.exists()


def test_the_process_that_keeps_it_is_known_while_it_lives(folder: Folder) -> None:
    assert folder.kept_by() is None
    process = keeper(folder)
    assert (folder.kept_by(), folder.kept_by()) == (process.pid, process.pid)
    process.kill()
    process.wait()
    assert folder.kept_by() is None


def test_the_number_of_a_keeper_that_is_gone_is_not_taken_for_one(folder: Folder) -> None:
    folder.keeper.write_text(f"{os.getpid()}\n")  # as after a restart of the machine: somebody else has the number now
    folder.publish(DevCluster(1, 0, operator=False, kubernetes="1.35.4"))
    assert (folder.kept_by(), folder.running()) == (None, None)


def test_there_is_one_keeper(folder: Folder) -> None:
    process = keeper(folder)
    second = subprocess.run([sys.executable, "-c", KEEPS, str(folder.path)], env=environment(), capture_output=True, text=True, check=True)
    assert (second.stdout, folder.kept_by()) == ("False\n", process.pid)
    process.communicate("")


def test_a_state_is_read_as_it_was_written(folder: Folder) -> None:
    state = DevCluster(4, 8, operator=True, kubernetes="1.35.4", ended=("operator",))
    folder.publish(state)
    assert folder.ready() == state


@pytest.mark.parametrize("text", ["", "{", "[]", '{"nodes": 1}', '{"ended": [], "size": 1}'])
def test_a_state_that_is_damaged_counts_as_none(text: str, folder: Folder) -> None:
    folder.state.write_text(text)
    assert folder.ready() is None
