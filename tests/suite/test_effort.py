"""One setting says how often what is random is tried."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.suite import effort
from tests.suite.nested import run


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


def test_what_is_tried_does_not_depend_on_what_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = (
        "import os\nfrom hypothesis import given, strategies\nfrom tests.suite.effort import load_profile\nload_profile()\n"
        "@given(strategies.integers(0, 10**6))\n"
        "def test_it(n):\n    with open(os.environ['DRAWN'], 'a') as file:\n        file.write(f'{n} ')\n"
    )
    tried = list[str]()
    for imported in ("", "import grove_compiler.compile\n"):
        drawn = tmp_path / f"drawn {len(tried)}"
        monkeypatch.setenv("DRAWN", str(drawn))
        code, said = run(tmp_path, imported + tests)
        assert code == 0, said
        tried.append(drawn.read_text())
    assert tried[0] == tried[1]
