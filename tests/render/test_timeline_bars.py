"""The phases of a bar: what has no length is left out, and what has just begun is not."""

from __future__ import annotations

from math import inf

from grove_cli.render.timeline import Bar
from tests.suite.rows import rows

CASES = {
    "gated, waiting and running": (Bar(0, 1, 2, 3, 0, ""), [("gated", 0, 1), ("waiting", 1, 2), ("running", 2, 3)]),
    "gated all the time": (Bar(0, inf, inf, 3, 0, ""), [("gated", 0, 3)]),
    "never started": (Bar(0, 0, inf, 3, 0, ""), [("waiting", 0, 3)]),
    "times out of order, as of clocks that differ": (Bar(5, 1, 2, 9, 0, ""), [("running", 5, 9)]),
    "ended before it started": (Bar(0, 1, 8, 3, 0, ""), [("gated", 0, 1), ("waiting", 1, 3)]),
    "made this second and gated": (Bar(3, inf, inf, 3, 0, ""), [("gated", 3, 3)]),
    "made this second and waiting": (Bar(3, 3, inf, 3, 0, ""), [("waiting", 3, 3)]),
    "began this second": (Bar(3, 3, 3, 3, 0, ""), [("running", 3, 3)]),
}


@rows("name", CASES)
def test_a_bar_has_these_phases(name: str) -> None:
    bar, expected = CASES[name]
    assert [(phase.name, begin, end) for phase, begin, end in bar.parts()] == expected
