"""One setting says how often what is random is tried."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.suite import effort


@pytest.mark.parametrize(
    ("given", "runs"), [(None, 25), ("test", 25), ("check", 5), ("night", 2500), ("0", 5), ("2.5", 62), ("800", 20_000)]
)
def test_a_level_or_a_number_multiplies_the_usual_number_of_runs(monkeypatch: pytest.MonkeyPatch, given: str | None, runs: int) -> None:
    monkeypatch.delenv(effort.VARIABLE, raising=False)
    if given is not None:
        monkeypatch.setenv(effort.VARIABLE, given)
    assert effort.runs(25) == runs


def test_what_is_tried_only_a_few_times_is_never_tried_more_often_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(effort.VARIABLE, "check")
    assert effort.runs(3) == 3


@pytest.mark.parametrize("given", ["noon", "", "-3", "inf", "nan"])
def test_what_is_neither_a_level_nor_a_number_is_refused(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv(effort.VARIABLE, given)
    with pytest.raises(ValueError, match=f"EFFORT={given} is neither a number nor one of check, test, night"):
        effort.runs(1)


def test_properties_take_it() -> None:
    assert settings.default is not None
    assert settings.default.max_examples == effort.runs(effort.PROPERTY)
    assert settings.default.derandomize == effort.is_repeatable()
