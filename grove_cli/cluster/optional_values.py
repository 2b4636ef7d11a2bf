"""Parses options as kubectl does: `--wait` alone, `--wait=2m` or `--wait 2m`, `--prune=true`, `--dry-run client`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import click

from grove_cli.cluster.options import SWITCHES, duration

BOOLEANS = {"true": True, "false": False}
NO_BARE: Mapping[str, str] = {}


class OptionalValues(click.Command):
    """A command whose options in `bare` have a default for a missing value, and whose flags accept `=true` and `=false`.

    The next argument is the value of such an option only if it is a duration, or one of the option's choices, and no file of that name
    exists.
    """

    def __init__(self, *args: Any, bare: Mapping[str, str] = NO_BARE, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bare = bare

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        return super().parse_args(ctx, [*self._with_values(args[:end]), *args[end:]])

    def _with_values(self, words: list[str]) -> Iterator[str]:
        options = {name: option for option in self.params if isinstance(option, click.Option) for name in option.opts}
        remaining = words[::-1]
        while remaining:
            word = remaining.pop()
            name, _, value = word.partition("=")
            if word in self.bare:
                is_next = bool(remaining) and _is_value(options[word], remaining[-1])
                yield f"{word}={remaining.pop() if is_next else self.bare[word]}"
            elif name in options and value in BOOLEANS and (options[name].is_flag or name in self.bare) and name not in SWITCHES:
                yield from self._switched(options[name], name, BOOLEANS[value])
            else:
                yield word

    def _switched(self, option: click.Option, name: str, is_on: bool) -> Iterator[str]:
        """Yields the arguments for a flag that was set to true or false: for false its negative form, if it has one."""
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
