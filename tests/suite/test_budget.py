"""A run with a budget ends in time, and says what it has left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suite.nested import run

TESTS = """
import pathlib
from tests.suite.budget import DEADLINE
def test_first(request): request.config.stash[DEADLINE] = 0.0; assert WELL
def test_second(): pathlib.Path(__file__).with_name("ran").touch()
def test_third(): pathlib.Path(__file__).with_name("ran").touch()
"""
"""The time is up as the first test ends."""


@pytest.mark.parametrize(("well", "code", "processes"), [(True, 0, ()), (False, 1, ("-n", "1"))], ids=["one process", "a worker"])
def test_what_has_not_begun_in_time_is_left_out(tmp_path: Path, well: bool, code: int, processes: tuple[str, ...]) -> None:
    ended, said = run(tmp_path, f"WELL = {well}\n{TESTS}", "--budget=60", *processes)
    assert ended == code
    assert "left out after --budget: 2 tests (2 in .)\n" in said
    assert not (tmp_path / "ran").exists()


def test_a_budget_of_nothing_leaves_out_all(tmp_path: Path) -> None:
    _, said = run(tmp_path, "def test_it(): pass\n", "--budget=0")
    assert "left out after --budget: 1 test (1 in .)\n" in said


def test_where_there_is_time_for_all_nothing_is_said(tmp_path: Path) -> None:
    ended, said = run(tmp_path, "def test_it(): pass\n", "--budget=60")
    assert (ended, "left out" in said) == (0, False)
