"""`grove operator`: what runs in a cluster."""

from __future__ import annotations

import click

from grove_operator.cli.group import Group
from grove_operator.cli.operator.run import command as run
from grove_operator.cli.operator.webhooks import command as webhooks


@click.group("operator", cls=Group)
def command() -> None:
    """Run the operator, or only its webhooks."""


command.add_command(run)
command.add_command(webhooks)
