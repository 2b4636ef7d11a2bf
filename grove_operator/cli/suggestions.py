"""What a misspelt option may have been meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import click

ALIKE = 0.75
"""How alike words are, from 0 to 1, that may be meant for each other. At click's 0.6 `--server-side` is near `--recursive`."""


def likely_options(word: str, command: click.Command | None) -> list[str]:
    """Returns the options of a command that a word is near to.

    In its letters, as its beginning, or because all their words are among its own.
    """
    names = [name for option in (command.params if command else ()) if isinstance(option, click.Option) for name in option.opts]
    return nearest(word, names)


def nearest(word: str, names: Iterable[str]) -> list[str]:
    """Returns those of the long options, such as `--dry-run`, that a word is near to; the nearest first."""
    by_text = {name.lstrip("-"): name for name in names if name.startswith("--")}
    text = word.lstrip("-")
    alike = difflib.get_close_matches(text, by_text, n=2, cutoff=ALIKE)
    parts = set(text.split("-"))
    begun = [one for one in by_text if len(text) > 1 and one.startswith(text)]
    inside = [one for one in by_text if set(one.split("-")) <= parts]
    return [by_text[one] for one in dict.fromkeys([*alike, *begun, *inside])]
