"""Abbreviates places of inputs: `set.yaml:6, :23, :31-244`, and groups of inputs by a common path."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from grove_compiler.explain import InputSource
from grove_compiler.graph.field_path import FieldPath, render

MAX_RANGES = 24
"""About four lines of 80 columns with the file names."""
WIDTH = 80


def ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Returns numbers as at most `MAX_RANGES` ranges: the smallest gaps are closed first."""
    found = [(number, number) for number in sorted(set(numbers))]
    gap = 1
    while True:
        joined: list[tuple[int, int]] = []
        for first, last in found:
            if joined and first - joined[-1][1] <= gap:
                joined[-1] = joined[-1][0], last
            else:
                joined.append((first, last))
        if len(joined) <= MAX_RANGES:
            return joined
        found, gap = joined, gap + 1


def places(sources: Iterable[InputSource]) -> list[str]:
    """Returns the places of inputs, including those of their defaults: lines of each file, then inputs without a line.

    Absent fields are omitted: their line would be that of their parent.
    """
    lines: dict[str, list[int]] = {}
    others: dict[str, None] = {}
    for origin in (origin for source in sources for origin in source.all()):
        if origin.kind in ("setting", "configuration"):
            others[f"--{render(origin.path).replace('_', '-')}" if origin.kind == "setting" else "operator configuration"] = None
        elif origin.kind not in ("absent", "schema") and not origin.rule:
            if origin.line:
                lines.setdefault(origin.file, []).append(origin.line)
            else:
                others[origin.name] = None
    texts = []
    for file, numbers in lines.items():
        parts = [f":{first}" if first == last else f":{first}-{last}" for first, last in ranges(numbers)]
        texts += [f"{file}{parts[0]}", *parts[1:]]
    return [*texts, *others]


def labelled(head: str, words: Sequence[str]) -> list[str]:
    """Returns words after a label of 11 columns, wrapped; empty without words."""
    text = ", ".join(words)
    indent = " " * 11
    return textwrap.wrap(
        text, WIDTH, initial_indent=head.ljust(11), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def grouped(sources: Sequence[InputSource], most: int) -> list[tuple[str, FieldPath, list[InputSource]]]:
    """Returns inputs in at most `most` groups: the object, the common path, and the inputs of each."""
    depth = max((len(source.path) for source in sources), default=0)
    while True:
        groups: dict[tuple[str, FieldPath], list[InputSource]] = {}
        for source in sources:
            groups.setdefault((source.name, source.path[:depth]), []).append(source)
        if len(groups) <= most or depth == 0:
            return [(name, path, found) for (name, path), found in groups.items()]
        depth -= 1
