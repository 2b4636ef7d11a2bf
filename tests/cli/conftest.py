"""Every test of the command line has a rule cache of the run, not the user's; some run the program in a folder of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .processes import Grove


def folder_of_the_run(factory: pytest.TempPathFactory) -> Path:
    """Returns a folder that all workers share: each compilation of the rules that ship takes a second of CPU."""
    own = factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "rules"


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROVE_CACHE_DIR", str(folder_of_the_run(tmp_path_factory)))
        patch.delenv("GROVE_TRACEBACK", raising=False)
        yield


@pytest.fixture
def grove(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Grove:
    """Runs the program, its streams caught, in a folder of its own, in which the test is as well."""
    monkeypatch.chdir(tmp_path)
    return Grove(tmp_path)
