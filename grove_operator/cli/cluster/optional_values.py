"""Options as kubectl's users write them: `--wait` alone, `--wait=2m` or `--wait 2m`, `--prune=true`, `--dry-run client`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import click

from grove_operator.cli.cluster.options import SWITCHES, duration

BOOLEANS = {"true": True, "false": False}


class OptionalValues(click.Command):
    """A command whose options in `bare` take the value there when they come without one, and whose flags may be said to be true or false.

    The next argument is an option's value only where it can be nothing else: a time, or one of the words that the option takes, of which
    there is no file.
    """

    def __init__(self, *args: Any, bare: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bare = bare

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [*self._with_values(args[:end]), *args[end:]])

    def _with_values(self, words: list[str]) -> Iterator[str]:
        options = {name: one for one in self.params if isinstance(one, click.Option) for name in one.opts}
        waiting = words[::-1]
        while waiting:
            word = waiting.pop()
            name, _, value = word.partition("=")
            if word in self.bare:
                is_next = bool(waiting) and _is_value(options[word], waiting[-1])
                yield f"{word}={waiting.pop() if is_next else self.bare[word]}"
            elif name in options and value in BOOLEANS and (options[name].is_flag or name in self.bare) and name not in SWITCHES:
                yield from self._switched(options[name], name, BOOLEANS[value])
            else:
                yield word

    def _switched(self, option: click.Option, name: str, is_on: bool) -> Iterator[str]:
        """Yields the words for a flag that was said to be on or off. One that is off is left out, unless it has a word for that."""
        if is_on:
            yield f"{name}={self.bare[name]}" if name in self.bare else name
        else:
            yield from option.secondary_opts[:1]


def _is_value(option: click.Option, word: str) -> bool:
    if os.path.exists(word):
        return False
    if isinstance(option.type, click.Choice):
        return word in option.type.choices
    if option.callback is not duration or not word[:1].isdecimal():
        return False
    from grove_compiler.kube import duration as go  # only where something may be one

    try:
        return go.parse(word) > 0
    except go.DurationError:
        return False
