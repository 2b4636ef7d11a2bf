"""Draws rows of bars over time with characters, for terminals, files and pipes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from grove_cli.age import age
from grove_cli.render.timeline import ENDS, GATED, RUNNING, WAITING, Bar, Chart, Mark, TimelineRow
from grove_cli.terminal import Terminal, fitted, visible
from grove_compiler.kube.timestamp import timestamp

MAX_WIDTH = 120
LEAST_BARS = 16
SHADES = "█▓"
GLYPHS = {GATED: "·", WAITING: "░"}
STYLES = {GATED: "2", WAITING: "33", RUNNING: "36"}
END_GLYPHS = {"Failed": "✗", "Succeeded": "✓"}
END_STYLES = {"Failed": "31", "Succeeded": "32"}
LETTERS = "abcdefghijklmnopqrstuvwxyz"
Cell = tuple[str, str]
"""A character and its style."""
BLANK: Cell = (" ", "")


def timeline_lines(chart: Chart, terminal: Terminal) -> list[str]:
    """Returns the title, the rows, the axis and the legend, within the width of the terminal. Marks are letters above the rows."""
    width = min(terminal.width, MAX_WIDTH)
    names = _names(chart.rows, max(width // 2 - LEAST_BARS // 2, LEAST_BARS))
    name_width = max(map(len, names), default=0)
    ruler = _Ruler(chart, max(width - name_width - 1, 1))
    marks = [mark for mark in chart.marks if chart.begin <= mark.at <= chart.end][: len(LETTERS)]
    lines = [terminal.paint(fitted(visible(chart.title), width), "1")]
    if marks:
        cells = [BLANK] * ruler.width
        for letter, mark in zip(LETTERS, marks, strict=False):
            cells[ruler(mark.at)] = letter, "1"
        lines.append(_line("", name_width, cells, terminal))
    lines += (_line(name, name_width, _cells(row, ruler), terminal) for name, row in zip(names, chart.rows, strict=True))
    lines.append(_line("", name_width, [(letter, "2") for letter in _axis(chart, ruler)], terminal))
    return [*lines, *_wrapped(_legend(chart, marks, terminal), width)]


def _names(rows: Sequence[TimelineRow], most: int) -> list[str]:
    """Returns the names of rows within a width. Where one is too long, they lose what all of a set begin with, and then their middle."""
    names = [visible(row.name) for row in rows]
    if max(map(len, names), default=0) > most:
        of_pods = sorted(name for name in names if "-" in name)
        pairs = zip(of_pods[0], of_pods[-1], strict=False) if len(of_pods) > 1 else ()
        common = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)).rpartition("-")[0]
        names = [f"…{name.removeprefix(common)}" if common and name.startswith(common) else name for name in names]
    return [fitted(name, most) for name in names]


class _Ruler:
    """Converts a time to a column."""

    def __init__(self, chart: Chart, width: int) -> None:
        self.begin, self.length, self.width = chart.begin, max(chart.end - chart.begin, 1.0), width

    def __call__(self, at: float) -> int:
        return min(max(int((at - self.begin) / self.length * self.width), 0), self.width - 1)


def _cells(row: TimelineRow, ruler: _Ruler) -> list[Cell]:
    cells = [BLANK] * ruler.width
    for bar in row.bars:
        for phase, begin, end in bar.parts():
            glyph = SHADES[bar.number % len(SHADES)] if phase is RUNNING else GLYPHS[phase]
            first = ruler(begin)
            for column in range(first, max(ruler(end), first + 1)):
                cells[column] = glyph, STYLES[phase]
        if bar.state in END_GLYPHS:
            cells[_last_column(bar, ruler)] = END_GLYPHS[bar.state], END_STYLES[bar.state]
    return cells


def _last_column(bar: Bar, ruler: _Ruler) -> int:
    end = ruler(bar.end)
    return end if bar.end >= ruler.begin + ruler.length else max(end - 1, ruler(bar.begin))


def _axis(chart: Chart, ruler: _Ruler) -> str:
    """Returns the time of the begin, and where there is room for it how long after that the end is."""
    begin, end = timestamp(chart.begin), f"+{age(chart.end - chart.begin)}"
    room = ruler.width - len(begin) - len(end)
    return f"{begin}{' ' * room}{end}" if room > 0 else end.rjust(ruler.width)[: ruler.width]


def _line(name: str, name_width: int, cells: Sequence[Cell], terminal: Terminal) -> str:
    """Returns a line with neighbours of one style painted together."""
    parts, at = [f"{name:{name_width}} "], 0
    while at < len(cells):
        end = next((other for other in range(at, len(cells)) if cells[other][1] != cells[at][1]), len(cells))
        text = "".join(glyph for glyph, _ in cells[at:end])
        parts.append(terminal.paint(text, cells[at][1]) if cells[at][1] else text)
        at = end
    return "".join(parts).rstrip()


def _legend(chart: Chart, marks: Sequence[Mark], terminal: Terminal) -> Iterator[tuple[str, str]]:
    """Yields a sample and its meaning for each that the picture has."""
    for phase in chart.phases():
        yield terminal.paint(GLYPHS.get(phase, SHADES), STYLES[phase]), phase.meaning
    for state in chart.ends():
        yield terminal.paint(END_GLYPHS[state], END_STYLES[state]), ENDS[state]
    for letter, mark in zip(LETTERS, marks, strict=False):
        yield terminal.paint(letter, "1"), visible(mark.label)
    if chart.left_out:
        yield "", chart.left_out


def _wrapped(entries: Iterator[tuple[str, str]], width: int) -> list[str]:
    """Joins the entries of a legend to lines."""
    lines, room = list[list[str]](), 0
    for sample, meaning in entries:
        length = len(meaning) + 4
        if length > room:
            lines.append([])
            room = width
        lines[-1].append(f"{sample} {fitted(meaning, width - 3)}".strip())
        room -= length
    return ["  ".join(line) for line in lines]
