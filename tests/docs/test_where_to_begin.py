"""The table that leads a newcomer from a wish to a file: there are at least twelve wishes, and every file is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| (`.+) \|$", PAGE.partition("## I want to change")[2].partition("\n## ")[0], re.MULTILINE)


def test_it_answers_a_dozen_questions() -> None:
    assert len({question for question, _ in ROWS}) >= 12


def test_each_answer_names_a_file_that_is_there() -> None:
    named = {question: re.match(r"`([^`]+)`", answer) for question, answer in ROWS}
    assert {question for question, path in named.items() if path is None or not (ROOT / path[1]).is_file()} == set()


def test_what_stands_in_brackets_stands_in_the_file() -> None:
    pairs = [(path, name) for _, answer in ROWS for path, name in re.findall(r"`([^`]+)` \(`([^`]+)`\)", answer)]
    assert pairs
    assert [name for path, name in pairs if f"def {name.rpartition('.')[2]}" not in (ROOT / path).read_text(encoding="utf-8")] == []


def test_contributing_leads_there() -> None:
    assert "`docs/architecture.md` has the file to begin" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
