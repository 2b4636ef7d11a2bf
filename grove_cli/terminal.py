"""Describes the terminal of a stream: its width, colours, and the characters that are safe to print."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TextIO

WIDTH_OF_A_FILE = 160
NARROWEST = 40
MIN_NAME_WIDTH = 12
"""Names are not shortened below this, however narrow the terminal is."""
DIFF_CONTEXT = 3
DIFF_COLOURS = {"+": "32", "-": "31", "@": "36"}
UNSAFE = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))} | {
    code: f"\\u{code:04x}" for code in (0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
}


class Terminal(NamedTuple):
    """`width` is in columns; `wraps` is false for files and pipes, where a finding is one line, for `grep`."""

    colours: bool
    width: int
    wraps: bool

    def paint(self, text: str, *styles: str) -> str:
        """Returns the text in SGR styles (`"1"` bold, `"2"` dim, `"31"` red, …), or unchanged without colours."""
        return f"\x1b[{';'.join(styles)}m{text}\x1b[0m" if self.colours and text else text

    def wrapped(self, text: str, begin: int = 0, hanging: int = 0) -> list[str]:
        """Returns a text as lines within the width; the first stands behind `begin` columns, the others are indented by `hanging`."""
        if not self.wraps or begin + len(text) <= self.width:
            return [text]
        import textwrap  # only where a person looks at a long text

        first = "\0" * begin
        lines = textwrap.wrap(
            text, self.width, initial_indent=first, subsequent_indent=" " * hanging, break_long_words=False, break_on_hyphens=False
        )
        return [lines[0].removeprefix(first), *lines[1:]] if lines else [text]

    def diff(self, before: Sequence[str], after: Sequence[str], old_name: str, new_name: str) -> Iterator[str]:
        """Yields a unified diff of two texts by lines, its two headers first; nothing for equal texts."""
        from difflib import unified_diff  # only where something may differ

        for number, line in enumerate(unified_diff(before, after, old_name, new_name, n=DIFF_CONTEXT, lineterm="")):
            colour = "1" if number < 2 else DIFF_COLOURS.get(line[:1], "")
            yield self.paint(visible(line), colour) if colour else visible(line)


def terminal_of(stream: TextIO) -> Terminal:
    """Returns the terminal of a stream. Colours are off for files and pipes, with `NO_COLOR`, and for `TERM=dumb`."""
    try:
        is_terminal = stream.isatty()
        width = os.get_terminal_size(stream.fileno()).columns if is_terminal else WIDTH_OF_A_FILE
    except (OSError, ValueError, AttributeError):
        is_terminal, width = False, WIDTH_OF_A_FILE
    colours = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Terminal(colours, max(width or WIDTH_OF_A_FILE, NARROWEST), is_terminal)


def fitted(text: str, width: int) -> str:
    """Returns the text, with its middle replaced by `…` if it is wider than `width`: names are distinguished by both ends."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return text[: width - 1 - tail] + "…" + text[len(text) - tail :]


def visible(text: str) -> str:
    """Returns the text with control and bidirectional characters, which could change the display, as escapes."""
    return text if text.isprintable() and text.isascii() else text.translate(UNSAFE)
