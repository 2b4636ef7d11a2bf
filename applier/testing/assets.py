"""Finds the programs of the control plane: in `KUBEBUILDER_ASSETS`, or in a cache folder outside any checkout."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from applier.testing import versions
from applier.testing.errors import NotBuilt

CACHE_VARIABLE = "APPLIER_CONTROL_PLANE"
ENVTEST_VARIABLE = "KUBEBUILDER_ASSETS"


@dataclass(slots=True, frozen=True)
class Assets:
    """Represents a folder with the programs of a control plane; optional ones may be missing."""

    folder: Path
    programs: frozenset[str]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Returns the optional programs that are missing."""
        return tuple(name for name in versions.OPTIONAL if name not in self.programs)

    @property
    def kube_minor(self) -> int:
        """Returns the minor version of kube-apiserver: 35 for Kubernetes 1.35."""
        return kube_minor(self.path("kube-apiserver"))

    def path(self, program: str) -> str:
        """Raises `NotBuilt` if a program is missing."""
        if program not in self.programs:
            raise NotBuilt(f"{self.folder} holds no {program}")
        return str(self.folder / program)


@cache
def kube_minor(api_server: str) -> int:
    """Returns the minor version of this kube-apiserver. One that does not say is taken for that which we build, whose version is known."""
    pinned = int(versions.version("kubernetes").split(".")[1])
    if Path(api_server).parent == cache_folder():
        return pinned
    try:
        said = subprocess.run([api_server, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return pinned
    found = re.search(r"Kubernetes v1\.(\d+)\.", said)
    return int(found[1]) if found else pinned


def build_command() -> str:
    """Returns the command that builds a control plane in this environment."""
    python = Path(sys.executable)
    if shutil.which("python") == str(python):
        return "python -m applier.testing build"
    if python.is_relative_to(Path.cwd()):
        python = python.relative_to(Path.cwd())
    return f"{shlex.quote(str(python))} -m applier.testing build"


def cache_root() -> Path:
    """Returns `$APPLIER_CONTROL_PLANE`, or `applier/control-plane` in the user's cache folder."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "applier" / "control-plane"


def cache_folder() -> Path:
    """Returns the folder of a build of these versions, whether it exists or not."""
    return cache_root() / versions.key()


def find() -> Assets:
    """Returns the programs to start. Raises `NotBuilt` if a required one is missing.

    `KUBEBUILDER_ASSETS` goes first, and is not filled up from the cache: the versions might not fit each other.
    """
    if chosen := os.environ.get(ENVTEST_VARIABLE):
        return look_into(
            Path(chosen), f"{ENVTEST_VARIABLE}={chosen} is incomplete; unset it and `{build_command()}` builds a control plane"
        )
    return look_into(cache_folder(), f"no control plane is built; `{build_command()}` builds one")


def why_not_served(what: str, since: str) -> str:
    """Returns why the programs do not have what Kubernetes has from a version such as 1.34 on; nothing where they do, or are missing."""
    try:
        minor = find().kube_minor
    except NotBuilt:
        return ""
    return f"{what} needs Kubernetes {since}, and this is 1.{minor}" if minor < int(since.split(".")[1]) else ""


def look_into(folder: Path, otherwise: str) -> Assets:
    """Returns the programs in a folder; kwok only with its stages, which it needs to start. Raises `NotBuilt` with the given text."""
    present = {program.name for program in versions.PROGRAMS if os.access(folder / program.name, os.X_OK)}
    if not (folder / versions.STAGES).is_file():
        present.discard("kwok")
    if missing := [name for name in versions.NEEDED if name not in present]:
        raise NotBuilt(f"{otherwise} (missing: {', '.join(missing)})")
    return Assets(folder, frozenset(present))
