"""Prints rows as a table like those of kubectl; on a terminal the last column is cut to its width."""

from __future__ import annotations

from collections.abc import Sequence

from grove_cli.terminal import MIN_NAME_WIDTH, WIDTH_OF_A_FILE, Terminal, fitted

GAP, NARROW_GAP = "   ", "  "
HEADER, WAITING = "1", "33"
"""Styles of a line."""
PIPE = Terminal(colours=False, width=WIDTH_OF_A_FILE, wraps=False)


def table(rows: Sequence[Sequence[str]], terminal: Terminal = PIPE, styles: Sequence[str] = ()) -> str:
    """Returns the rows as lines. `styles` are those of the lines, empty for none; without any all lines are plain."""
    if not rows:
        return ""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    gap = NARROW_GAP if terminal.wraps and sum(widths[:-1]) + len(GAP) * len(widths) + MIN_NAME_WIDTH > terminal.width else GAP
    texts = (_line(row, widths, gap, terminal) for row in rows)
    return "".join(
        f"{terminal.paint(text, style) if style else text}\n" for text, style in zip(texts, styles or [""] * len(rows), strict=True)
    )


def _line(cells: Sequence[str], widths: Sequence[int], gap: str, terminal: Terminal) -> str:
    *first, last = cells
    left = gap.join([*(f"{cell:{width}}" for cell, width in zip(first, widths, strict=False)), ""])
    room = terminal.width - len(left) if terminal.wraps else len(last)
    return (left + (fitted(last, room) if room >= min(MIN_NAME_WIDTH, len(last)) else "")).rstrip()
