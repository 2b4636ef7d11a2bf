"""Defines `grove delete`."""

from __future__ import annotations

from typing import Any

import click

from grove_operator.cli.cluster import session as sessions
from grove_operator.cli.cluster.input import ClusterInput
from grove_operator.cli.cluster.listeners import listening
from grove_operator.cli.cluster.optional_values import OptionalValues
from grove_operator.cli.cluster.options import (
    GIVEN,
    dry_run_option,
    duration,
    field_manager_option,
    input_options,
    journal_option,
    take_input,
    take_target,
    target_options,
)
from grove_operator.cli.options import output_option


@click.command(
    "delete",
    cls=OptionalValues,
    bare={"--dry-run": "client"},
    epilog="""\b
Examples:
  grove delete workload.yaml                   the set, and what we made of it
  grove delete manifests/ --dry-run            what would go
  grove delete --applyset shop                 all members of a recorded set

\b
Exit codes: 0 gone, 1 findings, 2 something is still there, was never there, or is not ours.""",
)
@input_options
@target_options
@click.option(
    "--applyset", default="", metavar="NAME", type=GIVEN, help="Delete all members of this ApplySet instead of the objects in FILE."
)
@click.option(
    "--approve", default="", metavar="HASH", type=GIVEN, help="With --applyset: approve a held deletion by the hash that was printed."
)
@click.option("--ignore-not-found", is_flag=True, help="Succeed if an object does not exist.")
@click.option(
    "--cascade",
    type=click.Choice(("background", "foreground", "orphan")),
    default="background",
    show_default=True,
    help="What happens to dependents of deleted objects.",
)
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until everything is gone.")
@click.option("--timeout", metavar="TIME", default="5m", show_default=True, callback=duration, help="Give up waiting after this time.")
@dry_run_option("Delete nothing: say what would go, or have the server try it.")
@field_manager_option("Whose compiled objects are ours.")
@journal_option
@output_option("text", "name", "json")
def command(**given: Any) -> int:
    """Delete the objects of FILE; of a PodCliqueSet, the set and what we made of it.

    Each object is deleted only if it is the one that was looked at. Objects that a set's rules name but that somebody else made stay.
    """
    target = take_target(given)
    options = take_input(given, required=not given["applyset"])
    from grove_operator.cli.cluster.delete.run import Choices, DeleteRun

    choices = Choices(**given)
    if choices.approve and not choices.applyset:
        raise click.UsageError("--approve needs --applyset.")
    if choices.applyset and options.files:
        raise click.UsageError("Give either FILE or --applyset: an ApplySet's record lists its members.")
    source = ClusterInput(options, target.namespace) if options.files else None
    run = DeleteRun(choices, source)
    with listening(run.sink, choices.journal, "delete") as run.sink:
        return sessions.run(run.work, target, run.sink, long=True)
