"""Every test of the command line has the rule cache of its run, not the user's; some run the program in a folder of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .processes import Grove


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        base = tmp_path_factory.getbasetemp()
        folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # all workers have what one has compiled
        patch.setenv("GROVE_CACHE_DIR", str(folder / "rules"))
        patch.delenv("GROVE_TRACEBACK", raising=False)
        yield


@pytest.fixture
def grove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Grove:
    """Runs the program, its streams caught, in a folder of its own, in which the test is as well."""
    monkeypatch.chdir(tmp_path)
    return Grove(tmp_path)
