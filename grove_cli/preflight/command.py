"""Defines the command group `grove preflight`."""

from __future__ import annotations

import click

from grove_cli.commands import Group
from grove_cli.preflight.controller import command as controller
from grove_cli.preflight.inject import command as inject
from grove_cli.preflight.run import command as run
from grove_cli.preflight.status import command as status


@click.group("preflight", cls=Group)
def command() -> None:
    """Test GPUs, links and collectives before a workload starts."""


command.add_command(inject)
command.add_command(controller)
command.add_command(status)
command.add_command(run)
