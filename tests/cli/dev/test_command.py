"""What `grove dev` says where nothing runs, and nothing can be started."""

from __future__ import annotations

import pwd
import sys
from pathlib import Path

import pytest

from applier.testing import assets, versions
from grove_cli.dev import contents, words
from grove_cli.dev.folder import DevCluster, Folder
from grove_cli.dev.start import Wish
from grove_cli.extras import install_command

from ..running import ROOT, run

STATE = DevCluster(16, 8, operator=True, kubernetes="1.35.4")
WISH = Wish(16, 8, operator=True)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """The folder of somebody who has never run it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv(assets.ENVTEST_VARIABLE, raising=False)
    return Folder.chosen(None)


def test_without_the_programs_the_command_that_builds_them_is_named(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(assets.CACHE_VARIABLE, str(tmp_path / "none"))
    built = "`grove dev up --build` builds it, once, in about 10 minutes on two cores"
    assert run("dev", "up") == (2, "", f"grove: the control plane is not built: {built}\n")
    assert not folder.path.exists()


def test_programs_that_somebody_has_chosen_must_be_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in versions.NEEDED:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv(assets.ENVTEST_VARIABLE, str(tmp_path))
    ended = run("dev", "up")
    assert ended.code == 2
    assert ended.err.startswith(f"grove: KUBEBUILDER_ASSETS={tmp_path} has no kube-controller-manager, kube-scheduler, kwok: unset it")


def test_a_build_without_go_names_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(assets.CACHE_VARIABLE, str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    told = f"grove: building the control plane needs Go: https://go.dev/dl, or {install_command('control-plane')}\n"
    assert run("dev", "up", "--build") == (2, "", told)


@pytest.mark.parametrize("command", ["up", "down"])
def test_an_installation_without_the_control_plane_says_how_to_get_it(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "grove_cli.dev.start", raising=False)
    for name in [name for name in sys.modules if name.startswith("applier.testing")]:
        monkeypatch.setitem(sys.modules, name, None)
    ended = run("dev", command)
    told = f"grove: a cluster on this machine needs applier.testing, which is not installed: {install_command('cluster', 'testing')}\n"
    assert ended == (2, "", told)


def test_a_server_that_does_not_start_is_told_with_its_words(folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program in versions.PROGRAMS:
        (tmp_path / program.name).write_text("#!/bin/sh\necho 'error: no such luck' >&2\nexit 3\n")
        (tmp_path / program.name).chmod(0o755)
    (tmp_path / versions.STAGES).touch()
    monkeypatch.setenv(assets.ENVTEST_VARIABLE, str(tmp_path))
    ended = run("dev", "up")
    assert (ended.code, ended.out) == (2, "")
    assert "grove: the cluster did not start: " in ended.err
    assert f"has ended: error: no such luck (logs: {folder.logs})" in ended.err
    assert list(folder.logs.glob("*.log"))
    assert run("dev", "down") == (0, f"no cluster is running in {folder.path}\n", "")
    assert not folder.path.exists()


def test_where_nothing_runs_down_is_content_and_status_is_not(folder: Folder) -> None:
    assert run("dev", "down") == (0, f"no cluster is running in {folder.path}\n", "")
    assert run("dev", "status") == (1, "no cluster is running; `grove dev up` starts one\n", "")


def test_a_user_without_a_home_has_to_name_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    ended = run("dev", "status")
    assert (ended.code, "the current user has no home directory; specify --folder" in ended.err) == (2, True)


def test_a_folder_that_is_not_ours_is_left_as_it_is(tmp_path: Path) -> None:
    for name in ("bin", "cluster"):
        (tmp_path / "mine" / name).mkdir(parents=True)
    assert run("dev", "down", "--folder", str(tmp_path / "mine")).code == 0
    assert {path.name for path in (tmp_path / "mine").iterdir()} == {"bin", "cluster"}


def test_a_shell_is_told_where_to_find_what_it_does_not_have(folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/clone/.venv/bin/grove", "dev", "up"])
    monkeypatch.setenv("PATH", str(tmp_path))
    told = [f"export KUBECONFIG={folder.kubeconfig}", f'export PATH={folder.bin}:/clone/.venv/bin:"$PATH"']
    assert list(words.exports(folder)) == told
    for name in ("kubectl", "grove"):
        (tmp_path / name).touch(mode=0o755)
    assert list(words.exports(folder)) == told[:1]


def test_folders_are_quoted_for_a_shell() -> None:
    assert next(words.exports(Folder(Path("/my dev")))) == "export KUBECONFIG='/my dev/kubeconfig'"


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (STATE, "16 nodes with 8 GPUs each, the operator"),
        (STATE._replace(nodes=1, gpus=1), "1 node with 1 GPU, the operator"),
        (STATE._replace(gpus=0, operator=False), "16 nodes without GPUs, no operator"),
    ],
)
def test_what_the_cluster_has_is_said(state: DevCluster, said: str, folder: Folder) -> None:
    assert next(words.status(folder, state)) == f"a cluster is running: Kubernetes 1.35.4, {said}"


def test_one_that_runs_already_is_not_changed_and_says_so(folder: Folder) -> None:
    told = list(words.after_up(folder, STATE, WISH._replace(nodes=4, operator=False), started=False))
    assert told[:2] == [
        "a cluster is already running: Kubernetes 1.35.4, 16 nodes with 8 GPUs each, the operator",
        "--nodes 4, --no-operator: not as it was started; `grove dev down` first",
    ]


def test_what_comes_next_is_an_example_of_the_clone_if_there_is_one(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert [*words.after_up(folder, STATE, WISH, started=True)][-1].startswith("next: `kubectl apply -f examples/minimal.yaml`, ")
    monkeypatch.setattr(words, "EXAMPLE", "/nowhere/minimal.yaml")
    assert [*words.after_up(folder, STATE, WISH, started=True)][-1].startswith("next: `kubectl apply -f FILE`, ")


def test_commands_name_a_folder_that_is_not_the_usual_one(folder: Folder) -> None:
    mine = Folder(Path("/my dev"))
    assert next(words.status(mine, None)) == "no cluster is running; `grove dev up --folder '/my dev'` starts one"
    assert [*words.after_up(mine, STATE, WISH, started=True)][-1].endswith("; `grove dev down --folder '/my dev'` removes it")
    assert [*words.after_up(folder, STATE, WISH, started=True)][-1].endswith("; `grove dev down` removes it")


def test_without_an_operator_the_command_that_runs_one_is_named(folder: Folder) -> None:
    alone = STATE._replace(operator=False)
    told = "\n".join(words.after_up(folder, alone, WISH._replace(operator=False), started=True))
    assert f"`grove operator run --config {folder.configuration}`" in told
    assert "not as it was started" not in told


def test_nodes_fill_racks_blocks_and_zones() -> None:
    zone, block, rack, host = contents.LEVELS.values()
    labels = [contents.node(number, 8)["metadata"]["labels"] for number in range(40)]
    assert [labels[number][rack] for number in (0, 3, 4)] == ["rack-0", "rack-0", "rack-1"]
    assert [labels[number][block] for number in (7, 8)] == ["block-0", "block-1"]
    assert [labels[number][zone] for number in (31, 32)] == ["zone-0", "zone-1"]
    assert len({one[host] for one in labels}) == 40
    assert "nvidia.com/gpu" not in contents.node(0, 0)["status"]["capacity"]
