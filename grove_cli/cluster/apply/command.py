"""Defines `grove apply`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from grove_cli.cluster import session as sessions
from grove_cli.cluster.applyset import applyset_options, take_applyset
from grove_cli.cluster.input import ClusterInput
from grove_cli.cluster.listeners import listening
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import (
    BARE_APPLY,
    dry_run_option,
    duration,
    input_options,
    journal_option,
    manager_options,
    take_input,
    target_options,
)
from grove_cli.cluster.target import take_target
from grove_cli.options import FILES, output_option

DEFAULT_WAIT = "5m"


@click.command(
    "apply",
    cls=OptionalValues,
    bare={"--wait": DEFAULT_WAIT, "--dry-run": "client", **BARE_APPLY},
    epilog="""\b
Examples:
  grove apply workload.yaml                           the set, and the objects generated from it
  grove apply manifests/ --wait=10m                   until everything is ready
  grove apply manifests/ --prune --applyset shop      and delete objects that the manifests no longer contain
  grove apply --plan change.plan                      carry out a saved plan, if it is still valid
  helm template web ./web | grove apply -             any manifest

\b
Exit codes: 0 done, 1 findings and nothing written, 2 an operation failed, or objects are not ready in time.""",
)
@input_options
@target_options
@manager_options
@click.option("--plan", metavar="FILE", type=FILES, help="Apply a plan saved by `grove plan -o`; FILEs only for values of Secrets.")
@dry_run_option("Write nothing: compute the changes here (client), or let the server validate them (server).")
@click.option("--wait", metavar="[=TIME]", callback=duration, help=f"Wait until everything is ready, by default {DEFAULT_WAIT}.")
@applyset_options
@journal_option
@output_option(
    "text",
    "name",
    "json",
    "yaml",
    help_text="Output format: a line per object (text), names only, a full report as JSON, or the objects as YAML.",
)
def command(**given: Any) -> int:
    """Apply FILE to the cluster: PodCliqueSets with the objects generated from them, and any other manifest.

    Unchanged objects cost no request. Objects are written by server-side apply, in the order of their dependencies; the failure
    of one holds back only those that depend on it.
    """
    target = take_target(given)
    options = take_input(given, required=given["plan"] is None)
    applyset = take_applyset(given, options)
    from grove_cli.cluster.apply.run import ApplyFlags, ApplyRun

    choices = ApplyFlags(**given)
    if choices.plan and applyset.applyset:
        raise click.UsageError("--plan carries out a saved plan, which includes the ApplySet: pass --applyset to `grove plan`.")
    if choices.plan is not None:
        _refuse_beside_plan({"field_manager": "--field-manager", "force": "--force-conflicts"})
    source = ClusterInput(options, target.namespace) if options.files else None
    run = ApplyRun(choices, source, options.force, applyset, target.namespace)
    with run.showing(), listening(run.sink, choices.journal, "apply") as run.sink:
        return sessions.run(run.work, target, run.sink, long=choices.wait is not None)


def _refuse_beside_plan(options: Mapping[str, str]) -> None:
    """Rejects options that are part of a plan, and would be ignored. Raises `click.UsageError`."""
    context = click.get_current_context()
    for name, option in options.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} is part of the plan: pass it to `grove plan`.")
