"""A wheel, really built and unpacked: it carries rules and templates, and its first start is a warm one."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from grove_compiler.version import __version__

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "explicit-startup-order.yaml"
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from grove_cli import main; main()"

pytestmark = pytest.mark.xdist_group("wheel")
"""Of all that builds the wheel, which takes a second of CPU."""
TESTING = "applier/testing"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel of this checkout."""
    return unpacked(ROOT, tmp_path_factory.mktemp("wheel"))


def unpacked(project: Path, folder: Path) -> Path:
    """Builds the wheel of a project, and unpacks it."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=project, check=True, capture_output=True, text=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def files_below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.yaml")}


@pytest.mark.parametrize("part", ["rules", "templates"])
def test_it_carries_every_file_of_the_checkout(installed: Path, part: str) -> None:
    assert files_below(installed / "grove_compiler" / part) == files_below(ROOT / part)


def test_it_compiles_as_the_checkout_does_and_needs_no_cache(installed: Path, tmp_path: Path) -> None:
    """Run from elsewhere, isolated from the environment and from this checkout, with a cache folder that stays empty."""
    environment = {"PATH": os.environ["PATH"], "GROVE_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-I", "-c", RUN, str(installed), "compile", str(EXAMPLE)]
    theirs = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    ours = subprocess.run([sys.executable, "-m", "grove_cli", "compile", str(EXAMPLE)], cwd=ROOT, check=True, capture_output=True)
    assert theirs.stdout == ours.stdout
    assert not (tmp_path / "cache").exists()


def test_clusters_for_tests_are_a_wheel_of_their_own(installed: Path, tmp_path: Path) -> None:
    assert not (installed / TESTING).exists()
    asked_for = unpacked(ROOT / TESTING, tmp_path)
    there = {path.relative_to(asked_for).as_posix() for path in (asked_for / TESTING).rglob("*.py")}
    assert there == {path.relative_to(ROOT).as_posix() for path in (ROOT / TESTING).rglob("*.py")}
    assert (asked_for / TESTING / "go" / "kwok" / "go.sum").exists()


def test_both_wheels_have_one_version_and_ask_for_each_other() -> None:
    project, testing = (tomllib.loads((folder / "pyproject.toml").read_text())["project"] for folder in (ROOT, ROOT / TESTING))
    assert project["optional-dependencies"]["testing"] == [f"{testing['name']}=={__version__}"]
    assert f"{project['name']}[cluster]=={__version__}" in testing["dependencies"]
