"""Copies a product, and the tests of maybe another checkout, into one folder, where nothing else is imported from."""

from __future__ import annotations

import shutil
from pathlib import Path

MINE = "tests/benchmarks/mutation"
LEFT_OUT = shutil.ignore_patterns(".*", "node_modules", "build", "dist", "*.egg-info", "_warm")
"""Compiled sources go with the others: to compile all tests again would cost half a minute. Rules that were compiled for a wheel do not."""


def make_workspace(root: Path, tests: Path, folder: Path) -> None:
    """Copies the product of `root` and the folder `tests` to `folder`. Raises `FileNotFoundError` where these are no tests."""
    if not (tests / "conftest.py").is_file():
        raise FileNotFoundError(f"{tests}: no tests, for there is no conftest.py")
    for entry in root.iterdir():
        if entry.name == tests.name == "tests" or entry.name.startswith(".") or entry.name in LEFT_OUT(str(root), [entry.name]):
            continue
        if entry.is_dir():
            shutil.copytree(entry, folder / entry.name, ignore=LEFT_OUT)
        else:
            shutil.copy2(entry, folder / entry.name)
    shutil.copytree(tests, folder / "tests", ignore=LEFT_OUT)
    here = folder / MINE
    shutil.rmtree(here, ignore_errors=True)
    shutil.copytree(root / MINE, here)  # the server that runs them, which old tests do not have
    (here.parent / "__init__.py").touch()


def tests_of(place: Path) -> Path:
    """Returns the folder of tests that a checkout, or such a folder itself, names."""
    return place / "tests" if (place / "tests" / "conftest.py").is_file() else place
