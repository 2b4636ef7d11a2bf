"""Defines `grove delete`."""

from __future__ import annotations

from typing import Any

import click

from grove_cli.cluster import session as sessions
from grove_cli.cluster.input import ClusterInput
from grove_cli.cluster.listeners import listening
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import (
    dry_run_option,
    duration,
    field_manager_option,
    input_options,
    journal_option,
    take_input,
    target_options,
    text_option,
)
from grove_cli.cluster.target import take_target
from grove_cli.options import output_option


@click.command(
    "delete",
    cls=OptionalValues,
    bare={"--dry-run": "client"},
    epilog="""\b
Examples:
  grove delete workload.yaml                   the set, and the objects generated from it
  grove delete manifests/ --dry-run            what would be deleted
  grove delete --applyset shop                 all members of a recorded set

\b
Exit codes: 0 deleted, 1 findings, 2 an object still exists, was not found, or is not ours.""",
)
@input_options
@target_options
@text_option("--applyset", metavar="NAME", help="Delete all members of this ApplySet instead of the objects in FILE.")
@text_option("--approve", metavar="HASH", help="With --applyset: approve a held deletion by the hash that was printed.")
@click.option("--ignore-not-found", is_flag=True, help="Succeed if an object does not exist.")
@click.option(
    "--cascade",
    type=click.Choice(("background", "foreground", "orphan")),
    default="background",
    show_default=True,
    help="What happens to dependents of deleted objects.",
)
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until all objects are deleted.")
@click.option("--timeout", metavar="TIME", default="5m", show_default=True, callback=duration, help="Give up waiting after this time.")
@dry_run_option("Delete nothing: print what would be deleted (client), or let the server validate it (server).")
@field_manager_option("The field manager whose generated objects are deleted.")
@journal_option
@output_option("text", "name", "json")
def command(**given: Any) -> int:
    """Delete the objects of FILE; for a PodCliqueSet, also the objects generated from it.

    An object is only deleted if its UID has not changed since it was read. Objects that others created are not deleted.
    """
    target = take_target(given)
    options = take_input(given, required=not given["applyset"])
    from grove_cli.cluster.delete.run import DeleteFlags, DeleteRun

    choices = DeleteFlags(**given)
    if choices.approve and not choices.applyset:
        raise click.UsageError("--approve requires --applyset.")
    if choices.applyset and options.files:
        raise click.UsageError("Specify either FILE or --applyset: an ApplySet's record lists its members.")
    source = ClusterInput(options, target.namespace, purpose="delete") if options.files else None
    run = DeleteRun(choices, source)
    with listening(run.sink, choices.journal, "delete") as run.sink:
        return sessions.run(run.work, target, run.sink, long=True)
