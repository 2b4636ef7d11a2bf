"""A wheel, really built and unpacked: it carries rules and templates, and its first start is a warm one."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "explicit-startup-order.yaml"
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from grove_operator.cli import main; main()"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, text=True)
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
    ours = subprocess.run([sys.executable, "-m", "grove_operator", "compile", str(EXAMPLE)], cwd=ROOT, check=True, capture_output=True)
    assert theirs.stdout == ours.stdout
    assert not (tmp_path / "cache").exists()
