"""The garbage collector: it works while tests run, but not on what was made before. And workers, which share out what is to be compiled."""

from __future__ import annotations

import gc
import importlib
import weakref
from pathlib import Path

import pytest

from tests.suite.collection import import_share


class Ring:
    """Something that refers to itself, so that only the garbage collector ends it."""

    def __init__(self) -> None:
        self.itself = self


def test_what_tests_leave_in_rings_goes_after_a_while() -> None:
    left = weakref.ref(Ring())
    kept: list[list[int]] = []
    while left() is not None and len(kept) <= 2 * gc.get_threshold()[0]:
        kept.append([])
    assert left() is None


def test_what_collection_has_made_is_not_looked_at_again() -> None:
    looked_at = {id(one) for one in gc.get_objects()}
    assert gc.get_freeze_count() > 10_000
    assert id(vars(weakref)) not in looked_at


def test_workers_import_each_module_in_one_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"tests.{folder}.test_{name}" for folder in "ab" for name in ("one", "two", "three")]
    for name in names:
        path = tmp_path / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    imported: list[str] = []

    def fail(name: str) -> None:
        imported.append(name)
        pytest.skip("as a module may", allow_module_level=True)

    monkeypatch.setattr(importlib, "import_module", fail)
    for worker in range(4):
        import_share(tmp_path, {"workerid": f"gw{worker}", "workercount": 4})
    assert sorted(imported) == sorted(names)
