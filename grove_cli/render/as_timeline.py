"""Renders rows of bars over time as a self-contained SVG, such as the attempts of a training job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from grove_cli.age import age
from grove_cli.render.palette import STRONG, TINTS
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.record import record

WIDTH, MARGIN, TOP, BOTTOM = 1200, 16, 56, 40
LANE, GAP, LINE = 14, 4, 13
LETTER = 6.6
"""The width of a character in the monospaced font of 11 px, in pixels."""
MAX_NAME_LENGTH = 48
TICKS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 7 * 86400)
MAX_TICKS = 10
FAILED, SUCCEEDED, MARK = "#b3261e", "#1c7c3c", "#444444"


@record
class Bar:
    """A bar from `begin` to `end`, in seconds since the epoch.

    Until `started` it is drawn in grey, then in the colour of `number`. `title` is its tooltip, and `state` marks its end.
    """

    begin: float
    started: float
    end: float
    number: int
    title: str
    state: str = ""


@record
class TimelineRow:
    """A row: its label and its bars."""

    name: str
    bars: Sequence[Bar]


@record
class Mark:
    """A vertical line with a label at a time."""

    at: float
    label: str


@record
class Chart:
    """A chart. Bars are clipped to the time from `begin` to `end`."""

    title: str
    begin: float
    end: float
    rows: Sequence[TimelineRow]
    marks: Sequence[Mark]


def svg(chart: Chart) -> str:
    """Returns the SVG as text. Names and labels may contain any characters: they are escaped."""
    left = MARGIN + 8 + LETTER * max((min(len(row.name), MAX_NAME_LENGTH) for row in chart.rows), default=0)
    scale = _Scale(chart, left)
    labels = list(_labels(chart.marks, scale))
    top = TOP + LINE * max((label.line for label in labels), default=0)
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
    parts += (_vertical_line(label, bottom) for label in labels)
    parts += map(_label, labels)
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Scale:
    """Converts a time to pixels from the left."""

    def __init__(self, chart: Chart, left: float) -> None:
        self.begin, self.end = chart.begin, max(chart.end, chart.begin + 1)
        self.left, self.room = left, WIDTH - MARGIN - left

    def __call__(self, at: float) -> float:
        share = (min(max(at, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return self.left + share * self.room


def _axis(chart: Chart, scale: _Scale, top: int, bottom: int) -> Iterator[str]:
    """Yields vertical lines at round times, with the time below those that have space for it."""
    length = scale.end - scale.begin
    step = next((tick for tick in TICKS if length / tick <= MAX_TICKS), length / MAX_TICKS)
    at, free = scale.begin, 0.0
    while at <= scale.end:
        x = scale(at)
        text = f"+{age(at - chart.begin)}" if at > chart.begin else timestamp(chart.begin)
        width = LETTER * len(text)
        begin = min(x - width / 2, WIDTH - width) if at > chart.begin else x
        yield f'<line x1="{x:.1f}" y1="{top - 6}" x2="{x:.1f}" y2="{bottom + 4}" stroke="#dddddd"/>'
        if begin >= free:
            yield f'<text x="{begin:.1f}" y="{bottom + 18}" fill="#555555">{text}</text>'
            free = begin + width + LETTER
        at += step


def _bar(bar: Bar, scale: _Scale, y: int) -> str:
    begin, started, end = (scale(at) for at in (bar.begin, max(bar.started, bar.begin), bar.end))
    colour = bar.number % len(TINTS)
    parts = [f"<g><title>{_text(bar.title)}</title>"]
    if started > begin:
        parts.append(_box(begin, started, y, "#eeeeee", "#bbbbbb"))
    if end > started or started == begin:
        parts.append(_box(started, max(end, started + 1.5), y, TINTS[colour], STRONG[colour]))
    if bar.state in ("Failed", "Succeeded"):
        fill = FAILED if bar.state == "Failed" else SUCCEEDED
        parts.append(f'<rect x="{max(end - 4, started):.1f}" y="{y}" width="4" height="{LANE}" fill="{fill}"/>')
    return "".join([*parts, "</g>"])


def _box(begin: float, end: float, y: int, fill: str, stroke: str) -> str:
    place = f'x="{begin:.1f}" y="{y}" width="{end - begin:.1f}" height="{LANE}" rx="2"'
    return f'<rect {place} fill="{fill}" stroke="{stroke}" stroke-width="0.7"/>'


@record
class _Label:
    """The label of a mark at `x`, to the right of it or to the left, on a line above the rows; 0 is the highest."""

    x: float
    text: str
    is_left: bool
    line: int


def _labels(marks: Sequence[Mark], scale: _Scale) -> Iterator[_Label]:
    """Positions the labels of marks; one that would overlap others gets the next free line."""
    occupied: list[list[tuple[float, float]]] = []
    for mark in marks:
        x, width = scale(mark.at), LETTER * (len(mark.label) + 1)
        is_left = x + width > WIDTH
        begin, end = (x - width, x) if is_left else (x, x + width)
        line = next((number for number, others in enumerate(occupied) if all(end <= a or b <= begin for a, b in others)), len(occupied))
        occupied += [[]] if line == len(occupied) else []
        occupied[line].append((begin, end))
        yield _Label(x, mark.label, is_left, line)


def _vertical_line(label: _Label, bottom: int) -> str:
    ends = f'x1="{label.x:.1f}" y1="{TOP - 10 + LINE * label.line}" x2="{label.x:.1f}" y2="{bottom + 4}"'
    return f'<line {ends} stroke="{MARK}" stroke-dasharray="4 3"/>'


def _label(label: _Label) -> str:
    """Returns a label on a white background, which interrupts the lines of other marks."""
    place = f'x="{label.x:.1f}" y="{TOP - 14 + LINE * label.line}" text-anchor="{"end" if label.is_left else "start"}"'
    return f'<text {place} fill="{MARK}" stroke="#ffffff" stroke-width="3" paint-order="stroke">{_text(label.text)}</text>'


def _shortened(name: str) -> str:
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…"


def _text(text: str) -> str:
    """Returns the text for XML, which allows no control characters, not even escaped ones."""
    return escape("".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text))
