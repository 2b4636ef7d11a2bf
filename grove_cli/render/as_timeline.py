"""Renders rows of bars over time as a self-contained SVG, such as the pods of a set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from grove_cli.age import age
from grove_cli.render.page_file import page_file
from grove_cli.render.timeline import ENDS, RUNNING, Bar, Chart, Mark, Phase
from grove_compiler.kube.timestamp import timestamp
from grove_compiler.record import record
from kube_objects.words import shortened

WIDTH, MARGIN, TOP, BOTTOM = 1200, 16, 56, 40
LANE, GAP, LINE = 14, 4, 13
LEAST, END = 1.5, 4
"""The width of the shortest part of a bar, and of the mark at its end."""
SHADES = 8
"""Colours of running pods in `page/timeline.css`, in rotation."""
LETTER = 6.6
"""The width of a character in the monospaced font of 11 px, in pixels."""
MAX_NAME_LENGTH = 48
TICKS = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 7 * 86400)
MAX_TICKS = 10
SWATCH = 22
"""The width of a sample in the legend."""


def svg(chart: Chart, *, styled: bool = True) -> str:
    """Returns the SVG as text. Names and labels may contain any characters: they are escaped.

    Unless it is `styled`, its colours are those of the page around it, which has the same style.
    """
    left = MARGIN + 8 + LETTER * max((min(len(row.name), MAX_NAME_LENGTH) for row in chart.rows), default=0)
    scale = _Scale(chart, left)
    labels = list(_labels(chart.marks, scale))
    top = TOP + LINE * max((label.line for label in labels), default=0)
    bottom = top + len(chart.rows) * (LANE + GAP)
    legend, below = _legend(chart, bottom + BOTTOM + 8)
    height = below + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="timeline" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="11">',
        f"<title>{_text(chart.title)}</title>",
        *([f"<style>{page_file('timeline.css')}</style>"] if styled else []),
        f'<rect class="t-paper" width="{WIDTH}" height="{height}"/>',
        f'<text class="t-ink" x="{MARGIN}" y="24" font-size="15" font-weight="bold">{_text(chart.title)}</text>',
        *_axis(chart, scale, top, bottom),
    ]
    for position, row in enumerate(chart.rows):
        y = top + position * (LANE + GAP)
        place = f'x="{left - 8:.1f}" y="{y + LANE - 3}" text-anchor="end"'
        parts.append(f'<text class="t-ink t-name" {place}>{_text(shortened(row.name, MAX_NAME_LENGTH))}</text>')
        parts += (_bar(bar, scale, y) for bar in row.bars)
    parts += (_vertical_line(label, bottom) for label in labels)
    parts += map(_label, labels)
    return "\n".join([*parts, *legend, "</svg>"]) + "\n"


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
        yield f'<line class="t-grid" x1="{x:.1f}" y1="{top - 6}" x2="{x:.1f}" y2="{bottom + 4}"/>'
        if begin >= free:
            yield f'<text class="t-muted" x="{begin:.1f}" y="{bottom + 18}">{text}</text>'
            free = begin + width + LETTER
        at += step


def _bar(bar: Bar, scale: _Scale, y: int) -> str:
    parts = [f"<g><title>{_text(bar.title)}</title>"]
    for phase, begin, end in bar.parts():
        left = scale(begin)
        parts.append(_box(left, max(scale(end), left + LEAST), y, _class(phase, bar.number)))
    if bar.state in ENDS:
        x = max(scale(bar.end) - END, scale(bar.begin))
        parts.append(f'<rect class="t-{bar.state.lower()}" x="{x:.1f}" y="{y}" width="{END}" height="{LANE}"/>')
    return "".join([*parts, "</g>"])


def _class(phase: Phase, number: int) -> str:
    return f"t-{number % SHADES}" if phase is RUNNING else f"t-{phase.name}"


def _box(begin: float, end: float, y: int, name: str) -> str:
    return f'<rect class="t-bar {name}" x="{begin:.1f}" y="{y}" width="{end - begin:.1f}" height="{LANE}" rx="2"/>'


def _legend(chart: Chart, y: int) -> tuple[list[str], int]:
    """Returns what the colours of a picture mean, in lines from `y` on, and the end of the last one."""
    phases = [(phase.meaning, [f"t-bar {_class(phase, 0)}"]) for phase in chart.phases()]
    ends = [(ENDS[state], ["t-bar t-0", f"t-{state.lower()}"]) for state in chart.ends()]
    parts, x = list[str](), float(MARGIN)
    for meaning, samples in [*phases, *ends, *([(chart.left_out, [])] if chart.left_out else [])]:
        width = (SWATCH + 6 if samples else 0) + LETTER * (len(meaning) + 3)
        if x + width > WIDTH and x > MARGIN:
            x, y = float(MARGIN), y + LANE + GAP
        if samples:
            parts.append(f'<rect class="{samples[0]}" x="{x:.1f}" y="{y}" width="{SWATCH}" height="{LANE}" rx="2"/>')
        if samples[1:]:
            parts.append(f'<rect class="{samples[1]}" x="{x + SWATCH - END:.1f}" y="{y}" width="{END}" height="{LANE}"/>')
        parts.append(f'<text class="t-muted" x="{x + (SWATCH + 6 if samples else 0):.1f}" y="{y + LANE - 3}">{_text(meaning)}</text>')
        x += width
    return parts, y + LANE if parts else y - LANE


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
    return f'<line class="t-mark" {ends} stroke-dasharray="4 3"/>'


def _label(label: _Label) -> str:
    """Returns a label on a white background, which interrupts the lines of other marks."""
    place = f'x="{label.x:.1f}" y="{TOP - 14 + LINE * label.line}" text-anchor="{"end" if label.is_left else "start"}"'
    return f'<text class="t-label" {place} stroke-width="3" paint-order="stroke">{_text(label.text)}</text>'


def _text(text: str) -> str:
    """Returns the text for XML, which allows no control characters, not even escaped ones."""
    return escape("".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text))
