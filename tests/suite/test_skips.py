"""What was skipped is told in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suite.nested import run

TESTS = """
import pytest
@pytest.mark.parametrize("n", range(2))
@pytest.mark.skip(reason="there is no GPU")
def test_gpu(n): pass
def test_other(): pytest.skip("it rains")
def test_fine(): pass
"""


@pytest.mark.parametrize("processes", [(), ("-n", "2")], ids=["one process", "workers"])
def test_reasons_are_told_with_how_many_tests_each_skipped(tmp_path: Path, processes: tuple[str, ...]) -> None:
    _, said = run(tmp_path, TESTS, *processes)
    assert "skipped: 2 because there is no GPU; it rains\n" in said


def test_without_skipped_tests_nothing_is_said(tmp_path: Path) -> None:
    _, said = run(tmp_path, "def test_fine(): pass\n")
    assert "skipped:" not in said
