"""Turns compiled objects back into the templates that somebody would have written for them by hand.

Two replicas are compared word by word. A word that is each replica's index becomes the loop's variable; any other word that
differs (the end of a Pod's name) becomes a value from a table, since no template language computes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

WORD = re.compile(r"(\w+)")


class Slot(NamedTuple):
    """A place in a template: the loop's index, or column `column` of the loop's row of values."""

    column: int | None


class Template(NamedTuple):
    """Literal text and slots, and a row of values for each replica."""

    parts: list[str | Slot]
    values: list[list[str]]

    def written(self, index: str, value: str) -> str:
        """The template in a language whose index is `index`, and whose `value` has a `%d` for the column."""
        return "".join(part if isinstance(part, str) else index if part.column is None else value % part.column for part in self.parts)


def templatize(texts: Sequence[str]) -> Template:
    """The template that gives `texts[r]` for each index r. Raises `ValueError` when the texts differ in more than words."""
    words = [WORD.split(text) for text in texts]
    if len({len(row) for row in words}) != 1:
        raise ValueError("the replicas differ in more than words")
    parts: list[str | Slot] = []
    columns: list[list[str]] = []
    for column in zip(*words, strict=True):
        if all(word == column[0] for word in column):
            parts.append(column[0])
        elif all(word == str(index) for index, word in enumerate(column)):
            parts.append(Slot(None))
        elif list(column) in columns:
            parts.append(Slot(columns.index(list(column))))
        else:
            parts.append(Slot(len(columns)))
            columns.append(list(column))
    return Template(parts, [list(row) for row in zip(*columns, strict=True)] if columns else [[] for _ in texts])
