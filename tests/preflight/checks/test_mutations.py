"""What tools print of failures passes after no accident: parts lost, doubled, swapped or cut off, other digits and types, two outputs."""

from __future__ import annotations

import random

import pytest

from preflight_images.shared.outcome import PASSED
from tests.suite.effort import is_repeatable, runs

from .mutations import main, passing, recorded

EACH = 200
"""Tries for each output: 8,000 in all, and 1,000,000 with `EFFORT=125`."""


@pytest.mark.timeout(1800)
def test_no_failure_passes_whatever_happens_to_what_a_tool_prints() -> None:
    seed = 0 if is_repeatable() else random.randrange(1 << 32)
    assert list(passing(runs(EACH), seed)) == [], f"seed {seed}"


def test_each_output_is_that_of_a_failure_and_beside_one_that_passes() -> None:
    outputs = list(recorded())
    assert [one.name for one in outputs if one.judged(one.text).exit_code == PASSED] == []
    assert {one.judged(one.text).error_code for one in outputs if one.name.endswith(", slow")} == {"NCCL_BW_DEGRADED"}
    # A tool that ends with an error passes with nothing that it prints; the others pass with what they print of a success.
    passed = {one.name for one in outputs if one.judged(one.healthy).exit_code == PASSED}
    assert {one.name for one in outputs if one.name.endswith((", slow", ", not run"))} == passed


def test_the_command_says_how_many_it_has_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(100, 1) == 0
    assert "tries over" in capsys.readouterr().out
