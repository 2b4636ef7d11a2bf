"""A picture of rows of bars over time, as an SVG that needs nothing else: who ran when, in colours by number, ends marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from grove_compiler.kube.timestamp import timestamp
from grove_compiler.record import record
from grove_operator.age import age
from grove_operator.render.palette import STRONG, TINTS

WIDTH, MARGIN, TOP, BOTTOM = 1200, 16, 56, 40
LANE, GAP, LINE = 14, 4, 13
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
    scale = _Scale(chart, left)
    marks = list(_laid(chart.marks, scale))
    top = TOP + LINE * max((mark.line for mark in marks), default=0)
    bottom = top + len(chart.rows) * (LANE + GAP)
    height = bottom + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="11">',
        f"<title>{_text(chart.title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{MARGIN}" y="24" font-size="15" font-weight="bold">{_text(chart.title)}</text>',
        *_axis(chart, scale, top, bottom),
    ]
    for position, row in enumerate(chart.rows):
        y = top + position * (LANE + GAP)
        parts.append(f'<text x="{left - 8:.1f}" y="{y + LANE - 3}" text-anchor="end">{_text(_shortened(row.name))}</text>')
        parts += (_bar(bar, scale, y) for bar in row.bars)
    parts += (_line(mark, bottom) for mark in marks)
    parts += map(_words, marks)
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Scale:
    """Where a time is, in pixels from the left."""

    def __init__(self, chart: Chart, left: float) -> None:
        self.begin, self.end = chart.begin, max(chart.end, chart.begin + 1)
        self.left, self.room = left, WIDTH - MARGIN - left

    def __call__(self, at: float) -> float:
        share = (min(max(at, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return self.left + share * self.room


def _axis(chart: Chart, scale: _Scale, top: int, bottom: int) -> Iterator[str]:
    """Lines at even times, and what time it is at those that have room for it."""
    length = scale.end - scale.begin
    step = next((one for one in TICKS if length / one <= MOST_TICKS), length / MOST_TICKS)
    at, free = scale.begin, 0.0
    while at <= scale.end:
        x = scale(at)
        words = f"+{age(at - chart.begin)}" if at > chart.begin else timestamp(chart.begin)
        width = LETTER * len(words)
        begin = min(x - width / 2, WIDTH - width) if at > chart.begin else x
        yield f'<line x1="{x:.1f}" y1="{top - 6}" x2="{x:.1f}" y2="{bottom + 4}" stroke="#dddddd"/>'
        if begin >= free:
            yield f'<text x="{begin:.1f}" y="{bottom + 18}" fill="#555555">{words}</text>'
            free = begin + width + LETTER
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


@record
class _Label:
    """The words of a mark at `x`, to the right of it or to the left, on a line above the rows; 0 is the highest."""

    x: float
    words: str
    is_left: bool
    line: int


def _laid(marks: Sequence[Mark], scale: _Scale) -> Iterator[_Label]:
    """Lays words that would lie upon others on lines of their own."""
    taken: list[list[tuple[float, float]]] = []
    for mark in marks:
        x, width = scale(mark.at), LETTER * (len(mark.words) + 1)
        is_left = x + width > WIDTH
        begin, end = (x - width, x) if is_left else (x, x + width)
        line = next((number for number, there in enumerate(taken) if all(end <= a or b <= begin for a, b in there)), len(taken))
        taken += [[]] if line == len(taken) else []
        taken[line].append((begin, end))
        yield _Label(x, mark.words, is_left, line)


def _line(mark: _Label, bottom: int) -> str:
    ends = f'x1="{mark.x:.1f}" y1="{TOP - 10 + LINE * mark.line}" x2="{mark.x:.1f}" y2="{bottom + 4}"'
    return f'<line {ends} stroke="{MARK}" stroke-dasharray="4 3"/>'


def _words(mark: _Label) -> str:
    """The words of a mark, on white: lines of other marks end at them."""
    place = f'x="{mark.x:.1f}" y="{TOP - 14 + LINE * mark.line}" text-anchor="{"end" if mark.is_left else "start"}"'
    return f'<text {place} fill="{MARK}" stroke="#ffffff" stroke-width="3" paint-order="stroke">{_text(mark.words)}</text>'


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _text(text: str) -> str:
    """The text for XML, which knows no control characters, not even escaped."""
    return escape("".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text))
