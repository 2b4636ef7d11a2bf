"""Formats the difference of two objects as a unified diff of their YAML."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from applier.ref import Manifest
from grove_cli.terminal import Terminal, visible
from grove_compiler.source.yaml_writer import write_yaml

CONTEXT = 3
_COLOURS = {"+": "32", "-": "31", "@": "36"}


def unified(before: Manifest | None, after: Manifest | None, name: str, terminal: Terminal) -> Iterator[str]:
    """Yields the lines of the diff, its two headers first; nothing for equal objects. Keys are sorted."""
    lines = difflib.unified_diff(_lines(before), _lines(after), f"live/{name}", f"wanted/{name}", n=CONTEXT, lineterm="")
    for number, line in enumerate(lines):
        shown = visible(line)
        if number < 2:
            yield terminal.paint(shown, "1")
        else:
            colour = _COLOURS.get(line[:1], "")
            yield terminal.paint(shown, colour) if colour else shown


def as_text(manifest: Manifest | None) -> str:
    """Returns the object as YAML with sorted keys; empty for none."""
    return "" if manifest is None else write_yaml([_sorted(manifest)])


def _lines(manifest: Manifest | None) -> list[str]:
    return as_text(manifest).split("\n")[:-1]


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        first = [key for key in ("apiVersion", "kind", "metadata", "name") if key in value]
        rest = sorted(key for key in value if key not in first)
        return {key: _sorted(value[key]) for key in (*first, *rest)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in value]
    return value
