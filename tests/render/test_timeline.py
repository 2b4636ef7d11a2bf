"""The picture of a set over time: no words lie upon others, and none begins or ends outside of it."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple
from xml.etree import ElementTree

from grove_cli.render.as_timeline import WIDTH, svg
from grove_cli.render.timeline import Bar, Chart, Mark, TimelineRow
from tests.suite.rows import rows

SPACE = "{http://www.w3.org/2000/svg}"
START = 1_800_000_000.0
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


class Words(NamedTuple):
    """Where a text is: monospaced letters are six tenths as wide as they are high."""

    text: str
    begin: float
    end: float
    top: float
    bottom: float


def words(picture: str) -> list[Words]:
    return [_place(one) for one in ElementTree.fromstring(picture).iter(f"{SPACE}text")]


def _place(one: ElementTree.Element) -> Words:
    size, text = float(one.get("font-size", "11")), one.text or ""
    x, y, width = float(one.get("x", "")), float(one.get("y", "")), 0.6 * size * len(text)
    begin = x - {"start": 0.0, "middle": width / 2, "end": width}[one.get("text-anchor", "start")]
    return Words(text, begin, begin + width, y - size * 0.8, y + size * 0.2)


def lie_upon(one: Words, other: Words) -> bool:
    return one.begin < other.end and other.begin < one.end and one.top < other.bottom and other.top < one.bottom


def chart(seconds: float, *marks: Mark, name: str = "llama-sft-0-worker-0", ranks: int = 3) -> Chart:
    bar = Bar(START, START + seconds / 20, START + seconds / 10, START + seconds, 0, "attempt 1", "Succeeded")
    return Chart("llama-sft: Succeeded, 1 of 2 restarts", START, START + seconds, [TimelineRow(name, [bar])] * ranks, marks)


def at(share: float, seconds: float, text: str) -> Mark:
    return Mark(START + share * seconds, text)


CASES = {
    **{f"{seconds:.0f} s": chart(seconds) for seconds in (7.0, 10 * MINUTE, 59 * MINUTE, 10 * HOUR, 30 * HOUR, 69 * DAY)},
    "marks at one time": chart(HOUR, at(0.01, HOUR, "first start"), at(0.01, HOUR, "suspended"), at(0.02, HOUR, "deadline in 23h")),
    "marks at the end": chart(HOUR, at(0.9, HOUR, "suspended"), at(1, HOUR, "Succeeded"), at(1, HOUR, "deadline in 12d4h")),
    "a long name": chart(10 * HOUR, at(0, 10 * HOUR, "first start"), name="a" * 63),
    "no rows": chart(HOUR, at(0, HOUR, "first start"), ranks=0),
}


@rows("name", CASES)
def test_no_words_lie_upon_others(name: str) -> None:
    found = words(svg(CASES[name]))
    assert len(found) > 2
    assert [(one.text, other.text) for one, other in combinations(found, 2) if lie_upon(one, other)] == []


@rows("name", CASES)
def test_all_words_are_within_the_picture(name: str) -> None:
    picture = svg(CASES[name])
    height = float(ElementTree.fromstring(picture).get("height", ""))
    outside = [one.text for one in words(picture) if one.begin < 0 or one.end > WIDTH or one.top < 0 or one.bottom > height]
    assert outside == []


@rows("name", CASES)
def test_every_colour_of_a_bar_is_explained(name: str) -> None:
    told = [one.text for one in words(svg(CASES[name]))]
    assert [phase.meaning for phase in CASES[name].phases() if phase.meaning not in told] == []


def test_every_mark_is_told() -> None:
    told = {one.text for one in words(svg(CASES["marks at the end"]))}
    assert {"suspended", "Succeeded", "deadline in 12d4h"} <= told
