"""`grove apply`: the cluster made equal to manifests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from grove_operator.cli import cluster_session
from grove_operator.cli.cluster_input import ClusterInput
from grove_operator.cli.cluster_options import BARE_FORCE, duration, input_options, manager_options, take_asked, take_target, target_options
from grove_operator.cli.optional_values import OptionalValues
from grove_operator.cli.options import FILES

DEFAULT_WAIT = "5m"


@dataclass(slots=True, eq=False)
class Choices:
    """What the options of an apply say. `dry_run` is empty, `client` or `server`; `wait` is in seconds."""

    field_manager: str
    plan: str | None
    dry_run: str
    wait: float | None
    prune: bool
    applyset: str
    prune_limit: str
    approve: str
    output: str


@click.command(
    "apply",
    cls=OptionalValues,
    bare={"--wait": DEFAULT_WAIT, "--dry-run": "client", **BARE_FORCE},
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
@click.option("--plan", metavar="FILE", type=FILES, help="Carry out a plan that `grove plan -o` kept; FILEs only for values of Secrets.")
@click.option(
    "--dry-run",
    type=click.Choice(("client", "server", "none")),
    default="none",
    metavar="[=client|server]",
    help="Write nothing: decide here, or have the server try what would be written.",
)
@click.option("--wait", metavar="[=TIME]", callback=duration, help=f"Wait until everything is ready; {DEFAULT_WAIT} unless told.")
@click.option("--prune", is_flag=True, help="Delete members of the set of --applyset that are no longer among the manifests.")
@click.option(
    "--applyset", default="", metavar="NAME", help="Keep the objects as a set (KEP-3659) with its record in the Secret NAME, or KIND/NAME."
)
@click.option("--prune-limit", default="", metavar="N|P%", help="Delete at most so many objects at once; more are held for approval.")
@click.option("--approve", default="", metavar="HASH", help="Delete what was held: the hash that was told then.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(("text", "name", "json", "yaml")),
    default="text",
    show_default=True,
    help="A line for each object, names alone, or an account of everything for programs.",
)
def command(**given: Any) -> int:
    """Make the cluster equal to FILE: PodCliqueSets with all that they become, and any other manifest.

    What is already as it should be costs no request. Objects are written by server-side apply, in the order in which they need each
    other; what goes wrong with one holds back only what depends on it.
    """
    target = take_target(given)
    asked = take_asked(given, required=given["plan"] is None)
    choices = Choices(**given)
    _check(choices, bool(asked.files))
    wanted = ClusterInput(asked, target.namespace) if asked.files else None
    from grove_operator.cli.apply_run import ApplyRun

    run = ApplyRun(choices, wanted, asked.force)
    with run.showing():
        return cluster_session.run(run.work, target, run.sink, long=choices.wait is not None)


def _check(choices: Choices, has_files: bool) -> None:
    """Raises `click.UsageError` for options that contradict each other."""
    if choices.prune and not choices.applyset:
        raise click.UsageError("--prune needs --applyset NAME: only objects of a recorded set are ever deleted.")
    if choices.plan and choices.prune:
        raise click.UsageError("--plan carries out a plan and nothing else: --prune is no part of one.")
    if choices.prune_limit and not choices.prune:
        raise click.UsageError("--prune-limit is about --prune.")
    if not has_files and not choices.plan:
        raise click.UsageError("There is no FILE: name a manifest, a folder, or - for standard input.")
