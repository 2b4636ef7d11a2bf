"""Defines `grove apply`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from grove_operator.cli.cluster import session as sessions
from grove_operator.cli.cluster.applyset import applyset_options, take_applyset
from grove_operator.cli.cluster.input import ClusterInput
from grove_operator.cli.cluster.listeners import listening
from grove_operator.cli.cluster.optional_values import OptionalValues
from grove_operator.cli.cluster.options import (
    BARE_APPLY,
    dry_run_option,
    duration,
    input_options,
    journal_option,
    manager_options,
    take_input,
    take_target,
    target_options,
)
from grove_operator.cli.options import FILES, output_option

DEFAULT_WAIT = "5m"


@click.command(
    "apply",
    cls=OptionalValues,
    bare={"--wait": DEFAULT_WAIT, "--dry-run": "client", **BARE_APPLY},
    epilog="""\b
Examples:
  grove apply workload.yaml                           what the set becomes, and the set itself
  grove apply manifests/ --wait=10m                   until everything is ready
  grove apply manifests/ --prune --applyset shop      and delete what is no longer among the manifests
  grove apply --plan change.plan                      what was planned, if it still holds
  helm template web ./web | grove apply -             any manifest

\b
Exit codes: 0 done, 1 findings and nothing written, 2 something could not be done, or is not ready in time.""",
)
@input_options
@target_options
@manager_options
@click.option("--plan", metavar="FILE", type=FILES, help="Apply a plan saved by `grove plan -o`; FILEs only for values of Secrets.")
@dry_run_option("Write nothing: decide here, or have the server try what would be written.")
@click.option("--wait", metavar="[=TIME]", callback=duration, help=f"Wait until everything is ready, by default {DEFAULT_WAIT}.")
@applyset_options
@journal_option
@output_option(
    "text", "name", "json", "yaml", help="A line for each object, names alone, an account of everything for programs, or the objects."
)
def command(**given: Any) -> int:
    """Make the cluster equal to FILE: PodCliqueSets with all that they become, and any other manifest.

    What is already as it should be costs no request. Objects are written by server-side apply, in the order in which they need each
    other; what goes wrong with one holds back only what depends on it.
    """
    target = take_target(given)
    options = take_input(given, required=given["plan"] is None)
    applyset = take_applyset(given, options)
    from grove_operator.cli.cluster.apply.run import ApplyRun, Choices

    choices = Choices(**given)
    if choices.plan and applyset.applyset:
        raise click.UsageError("--plan carries out a plan and nothing else: the set is part of it, give --applyset to `grove plan`.")
    if choices.plan is not None:
        _refuse_beside_plan({"field_manager": "--field-manager", "force": "--force-conflicts"})
    source = ClusterInput(options, target.namespace) if options.files else None
    run = ApplyRun(choices, source, options.force, applyset, target.namespace)
    with run.showing(), listening(run.sink, choices.journal, "apply") as run.sink:
        return sessions.run(run.work, target, run.sink, long=choices.wait is not None)


def _refuse_beside_plan(options: Mapping[str, str]) -> None:
    """Refuses options that are part of a plan, and would be ignored. Raises `click.UsageError`."""
    context = click.get_current_context()
    for name, option in options.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} is part of the plan: give it to `grove plan`.")
