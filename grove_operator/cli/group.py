"""A group of commands that says of each what its first sentence says, to its end."""

from __future__ import annotations

import click

WHOLE = 400
"""Characters: more than any first sentence has. click's default cuts it after 45."""


class Group(click.Group):
    """Lists its commands with whole sentences, on as many lines as they take."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = {name: command for name in self.list_commands(ctx) if (command := self.get_command(ctx, name)) is not None}
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(WHOLE)) for name, command in commands.items()])
