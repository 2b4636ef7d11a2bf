"""Suggests options for a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import click

ALIKE = 0.75
"""The least similarity of suggestions, from 0 to 1. At click's 0.6 `--server-side` would suggest `--recursive`."""

KUSTOMIZE = "Build it first, as in `kustomize build DIR | grove apply -`."
ELSEWHERE = {"-k": KUSTOMIZE, "--kustomize": KUSTOMIZE}
"""Options of kubectl for what other programs do, with what to do instead."""


def likely_options(word: str, command: click.Command | None) -> list[str]:
    """Returns the options of a command that are similar to a word, begin with it, or consist of its parts."""
    names = [name for option in (command.params if command else ()) if isinstance(option, click.Option) for name in option.opts]
    return nearest(word, names)


def nearest(word: str, names: Iterable[str]) -> list[str]:
    """Returns the similar ones among long options such as `--dry-run`, the most similar first."""
    by_text = {name.lstrip("-"): name for name in names if name.startswith("--")}
    text = word.lstrip("-")
    alike = difflib.get_close_matches(text, by_text, n=2, cutoff=ALIKE)
    parts = set(text.split("-"))
    prefixed = [name for name in by_text if len(text) > 1 and name.startswith(text)]
    contained = [name for name in by_text if set(name.split("-")) <= parts]
    return [by_text[name] for name in dict.fromkeys([*alike, *prefixed, *contained])]
