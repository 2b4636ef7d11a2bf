"""`grove operator`: what runs in a cluster."""

from __future__ import annotations

import click

from grove_cli.commands import Group
from grove_cli.operator.run import command as run
from grove_cli.operator.webhooks import command as webhooks


@click.group("operator", cls=Group)
def command() -> None:
    """Run the operator, or only its webhooks."""


command.add_command(run)
command.add_command(webhooks)
