"""Options that may stand without a value, as kubectl has them: `--wait` alone, or `--wait=2m`; never `--wait 2m`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click


class OptionalValues(click.Command):
    """A command whose options in `bare` take the value there when they come without `=`: the next argument is never theirs."""

    def __init__(self, *args: Any, bare: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bare = bare

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        filled = [f"{word}={self.bare[word]}" if word in self.bare else word for word in args[:end]]
        return super().parse_args(ctx, filled + args[end:])
