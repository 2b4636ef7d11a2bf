"""Real Helm, and control planes that several modules share."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from applier.testing.control_plane import ControlPlane
from tests import go_programs
from tools.generate_chart import CHART

from .cluster import cluster_without_definitions
from .still_cluster import Followed, followed


class Helm:
    """Helm with our chart. `kubeconfig` is of the cluster that it talks to, where it does."""

    def __init__(self, program: str, folder: Path, kubeconfig: Path | None = None) -> None:
        self.program, self.folder, self.kubeconfig = program, folder, kubeconfig

    def try_it(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs it, however it ends."""
        homes = {f"HELM_{name}_HOME": str(self.folder / name.lower()) for name in ("CACHE", "CONFIG", "DATA")}
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **homes}
        if self.kubeconfig:
            environment["KUBECONFIG"] = str(self.kubeconfig)
        return subprocess.run([self.program, *arguments], env=environment, capture_output=True, text=True, check=False)

    def __call__(self, *arguments: str) -> str:
        """What it prints. Fails with its words where it fails."""
        ended = self.try_it(*arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def template(self, *arguments: str) -> str:
        return self("template", "grove", str(CHART), "--namespace", "grove-system", *arguments)


@pytest.fixture(scope="session")
def helm_program() -> str:
    program, missing = go_programs.find("helm")
    if not program:
        pytest.skip(missing)
    return program


@pytest.fixture
def helm(helm_program: str, tmp_path: Path) -> Helm:
    return Helm(helm_program, tmp_path)


@pytest.fixture(scope="session")
def strict_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster for operators that lack rights or have no more than they need."""
    with cluster_without_definitions(tmp_path_factory.mktemp("strict")) as there:
        yield there.plane


@pytest.fixture(scope="session")
def followed_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Followed]:
    """What was seen of a cluster in which our operator has followed the shipped one."""
    with followed(tmp_path_factory.mktemp("followed")) as seen:
        yield seen
