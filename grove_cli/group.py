"""Provides a command group whose list has the whole first sentence of each command."""

from __future__ import annotations

import click

WHOLE = 400
"""Characters, more than any first sentence has. click's default truncates it to 45."""


class Group(click.Group):
    """Lists commands with the whole first sentence of their help."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = {name: command for name in self.list_commands(ctx) if (command := self.get_command(ctx, name)) is not None}
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(WHOLE)) for name, command in commands.items()])
