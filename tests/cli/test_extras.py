"""What is said where an extra is missing: the command that adds it to this installation."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

import pytest

from grove_cli import extras

ROOT = Path(__file__).resolve().parents[2]
OPTIONAL = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder that has nothing to do with the program."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pip(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The pip of this Python's environment, which is the one on PATH."""
    folder = elsewhere / "bin"
    folder.mkdir()
    for name in ("pip", "python"):
        (folder / name).touch(mode=0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(folder))
    return "pip"


@pytest.mark.usefixtures("pip")
def test_a_clone_is_installed_once_more_by_its_folder() -> None:
    assert extras.install_command("cluster", "observe") == f"pip install -e '{ROOT}[cluster,observe]'"


@pytest.mark.usefixtures("pip")
def test_inside_of_the_clone_it_is_the_dot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert extras.install_command("cluster") == "pip install -e '.[cluster]'"


@pytest.mark.usefixtures("pip")
def test_what_came_from_an_index_comes_from_there_again(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "CLONE", str(elsewhere / "site-packages"))
    assert extras.install_command("cluster") == "pip install 'grove-compiler[cluster]'"


@pytest.mark.usefixtures("elsewhere")
def test_where_another_pip_or_none_is_on_the_path_it_is_that_of_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    assert extras.install_command("cluster").startswith(f"{sys.executable} -m pip install -e ")


@pytest.mark.usefixtures("elsewhere")
def test_where_python_has_no_pip_uv_installs_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert extras.install_command("cluster").startswith(f"uv pip install --python {sys.executable} -e ")


def test_the_message_names_the_library_and_what_would_do_without_it() -> None:
    error = ModuleNotFoundError("No module named 'aiohttp'", name="aiohttp")
    told = extras.missing("metrics need", error, "observe", otherwise="server.metrics.port: 0")
    assert told.startswith("metrics need aiohttp, which is not installed: ")
    assert told.endswith("[observe]'; or server.metrics.port: 0")


def test_the_extra_all_has_what_every_command_needs_from_the_index() -> None:
    [all_of_them] = OPTIONAL["all"]
    other = {"all", "dev", "bench", "testing", "control-plane"}
    assert set(all_of_them.partition("[")[2].rstrip("]").split(",")) == OPTIONAL.keys() - other
