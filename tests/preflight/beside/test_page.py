"""The table of docs/preflight.md is that of the tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from . import test_more_rows, test_rows
from .rows import ROWS

PAGE = Path(__file__).parents[3] / "docs" / "preflight.md"


def test_the_page_lists_the_rows_that_are_tested() -> None:
    assert all(module.row for module in (test_rows, test_more_rows)), "both register their rows"
    assert dict(rows_of_the_page()) == ROWS


def rows_of_the_page() -> Iterator[tuple[str, str]]:
    section = PAGE.read_text().split("## Beside NVSentinel's\n")[1]
    for line in section.split("\n\n")[1].splitlines()[2:]:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        assert len(cells) == 4, line
        yield cells[0], cells[3]
