"""Defines `grove plan`."""

from __future__ import annotations

import sys
from typing import Any

import click

from applier.outcome import UNDONE
from grove_cli import output as outputs
from grove_cli.cluster import session as sessions
from grove_cli.cluster.applyset import applyset_options, take_applyset
from grove_cli.cluster.input import ClusterInput
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import BARE_APPLY, input_options, manager_options, take_input, target_options
from grove_cli.cluster.session import Session, say
from grove_cli.cluster.target import take_target
from grove_cli.exit_codes import EXIT_ERROR
from grove_cli.options import FILES

FORMATS = ("json", "yaml", "text", "name", "wide")


def _no_format(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Rejects the formats that `-o` has in all other commands, as a file of that name is hardly ever meant."""
    if value in FORMATS:
        raise click.BadParameter(f"here -o is the file to save the plan to, as JSON; for a file called {value!r} write ./{value}")
    return value


@click.command(
    "plan",
    cls=OptionalValues,
    bare=BARE_APPLY,
    epilog="""\b
Examples:
  grove plan workload.yaml                     what apply would do, and why
  grove plan manifests/ --applyset shop --prune    and what would be deleted
  grove plan workload.yaml -o change.plan      save it for a review
  grove apply --plan change.plan               carry out exactly this plan

\b
Exit codes: 0 planned, 1 findings, 2 an error, or an operation that would fail.""",
)
@input_options
@target_options
@manager_options
@applyset_options
@click.option(
    "-o",
    "--output-file",
    metavar="FILE",
    type=FILES,
    callback=_no_format,
    help="Save the plan to this file, for `grove apply --plan FILE`.",
)
def command(output_file: str | None, field_manager: str, **given: Any) -> int:
    """Print what would be done with each object of FILE, in which wave and why.

    A saved plan is only carried out while all objects and the ApplySet are as they were: same UID, same content, same input.
    It contains no values of Secrets; to apply a plan that writes Secrets, pass the files again.
    """
    target, inputs = take_target(given), take_input(given)
    applyset = take_applyset(given, inputs)
    source = ClusterInput(inputs, target.namespace)

    async def work(session: Session) -> int:
        from applier.run.live_state import identity_of, survey
        from applier.run.options import ApplyOptions
        from grove_cli.cluster.step_lines import effects_text, plan_text
        from grove_cli.terminal import terminal_of

        graph = await source.graph(session)
        recorded = await applyset.options(session, source.led)
        options = ApplyOptions(field_manager, force_conflicts=inputs.force, applyset=recorded)
        result = await survey(graph, session.cluster, options)
        if output_file is not None:
            with open(output_file, "wb") as stream:
                stream.write(result.save(cluster=await identity_of(session.cluster), namespace=session.namespace))
        terminal = terminal_of(sys.stdout)
        outputs.write_text(plan_text(result.plan.steps, terminal) + effects_text(source, terminal))
        if result.approval:
            say(f"deletions exceed the limit and are held: to approve exactly these, use --approve {result.approval}")
        return EXIT_ERROR if any(step.action in UNDONE for step in result.plan.steps) else 0

    return sessions.run(work, target)
