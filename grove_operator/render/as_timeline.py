"""A picture of rows of bars over time, as an SVG that needs nothing else: who ran when, in colours by number, ends marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from grove_compiler.kube.timestamp import timestamp
from grove_compiler.record import record
from grove_operator.age import age
from grove_operator.render.palette import STRONG, TINTS

WIDTH, MARGIN, TOP, BOTTOM = 1200, 16, 56, 40
LANE, GAP = 14, 4
LETTER = 6.6
"""How wide a letter of the names is, in the monospaced font of 11 px."""
LONGEST_NAME = 48
TICKS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 7 * 86400)
MOST_TICKS = 10
FAILED, SUCCEEDED, MARK = "#b3261e", "#1c7c3c", "#444444"


@record
class Bar:
    """A bar from `begin` to `end`, in seconds since the epoch; until `waited` it is drawn pale. `number` chooses its colour."""

    begin: float
    waited: float
    end: float
    number: int
    words: str
    state: str = ""


@record
class Row:
    """One row: what stands before it, and its bars."""

    name: str
    bars: Sequence[Bar]


@record
class Mark:
    """A line through all rows at a time."""

    at: float
    words: str


@record
class Chart:
    """All of a picture. What reaches beyond `begin` and `end` is cut."""

    title: str
    begin: float
    end: float
    rows: Sequence[Row]
    marks: Sequence[Mark]


def svg(chart: Chart) -> str:
    """Returns the picture as text. Names and words may hold anything: they are escaped."""
    left = MARGIN + 8 + LETTER * max((min(len(row.name), LONGEST_NAME) for row in chart.rows), default=0)
    height = TOP + len(chart.rows) * (LANE + GAP) + BOTTOM
    scale = _Scale(chart, left)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="11">',
        f"<title>{_text(chart.title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{MARGIN}" y="24" font-size="15" font-weight="bold">{_text(chart.title)}</text>',
        *_axis(chart, scale, height),
    ]
    for position, row in enumerate(chart.rows):
        y = TOP + position * (LANE + GAP)
        parts.append(f'<text x="{left - 8:.1f}" y="{y + LANE - 3}" text-anchor="end">{_text(_shortened(row.name))}</text>')
        parts += (_bar(bar, scale, y) for bar in row.bars)
    parts += (_mark(mark, scale, height) for mark in chart.marks)
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Scale:
    """Where a time is, in pixels from the left."""

    def __init__(self, chart: Chart, left: float) -> None:
        self.begin, self.end = chart.begin, max(chart.end, chart.begin + 1)
        self.left, self.room = left, WIDTH - MARGIN - left

    def __call__(self, at: float) -> float:
        share = (min(max(at, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return self.left + share * self.room


def _axis(chart: Chart, scale: _Scale, height: int) -> Iterator[str]:
    length = scale.end - scale.begin
    step = next((one for one in TICKS if length / one <= MOST_TICKS), length / MOST_TICKS)
    at = scale.begin
    while at <= scale.end:
        x = scale(at)
        words = f"+{age(at - chart.begin)}" if at > chart.begin else timestamp(chart.begin)
        anchor = "start" if at == chart.begin else "middle"
        yield f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height - BOTTOM + 4}" stroke="#dddddd"/>'
        yield f'<text x="{x:.1f}" y="{height - BOTTOM + 18}" text-anchor="{anchor}" fill="#555555">{words}</text>'
        at += step


def _bar(bar: Bar, scale: _Scale, y: int) -> str:
    begin, waited, end = (scale(at) for at in (bar.begin, max(bar.waited, bar.begin), bar.end))
    colour = bar.number % len(TINTS)
    parts = [f"<g><title>{_text(bar.words)}</title>"]
    if waited > begin:
        parts.append(_box(begin, waited, y, "#eeeeee", "#bbbbbb"))
    if end > waited or waited == begin:
        parts.append(_box(waited, max(end, waited + 1.5), y, TINTS[colour], STRONG[colour]))
    if bar.state in ("Failed", "Succeeded"):
        fill = FAILED if bar.state == "Failed" else SUCCEEDED
        parts.append(f'<rect x="{max(end - 4, waited):.1f}" y="{y}" width="4" height="{LANE}" fill="{fill}"/>')
    return "".join([*parts, "</g>"])


def _box(begin: float, end: float, y: int, fill: str, stroke: str) -> str:
    place = f'x="{begin:.1f}" y="{y}" width="{end - begin:.1f}" height="{LANE}" rx="2"'
    return f'<rect {place} fill="{fill}" stroke="{stroke}" stroke-width="0.7"/>'


def _mark(mark: Mark, scale: _Scale, height: int) -> str:
    x = scale(mark.at)
    anchor = "end" if x > WIDTH * 0.8 else "start"
    line = f'<line x1="{x:.1f}" y1="{TOP - 10}" x2="{x:.1f}" y2="{height - BOTTOM + 4}" stroke="{MARK}" stroke-dasharray="4 3"/>'
    return f'{line}<text x="{x:.1f}" y="{TOP - 14}" text-anchor="{anchor}" fill="{MARK}">{_text(mark.words)}</text>'


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _text(text: str) -> str:
    """The text for XML, which knows no control characters, not even escaped."""
    return escape("".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text))
