"""Defines `grove diff`."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from applier.desired import Graph
from applier.outcome import UNDONE
from grove_cli.cluster import session as sessions
from grove_cli.cluster.applyset import applyset_options, take_applyset
from grove_cli.cluster.input import ClusterInput
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import BARE_APPLY, input_options, manager_options, take_input, target_options
from grove_cli.cluster.session import Session
from grove_cli.cluster.target import take_target
from grove_cli.exit_codes import EXIT_ERROR, EXIT_FINDINGS, EXIT_OK
from grove_cli.options import text_or_json_option

if TYPE_CHECKING:
    from applier.outcome import Step
    from applier.run.options import ApplyOptions
    from grove_cli.cluster.diff.unified import Shown


@click.command(
    "diff",
    cls=OptionalValues,
    bare=BARE_APPLY,
    epilog="""\b
Examples:
  grove diff workload.yaml                     what apply would change, object by object
  grove diff manifests/ -l app=web -o json     for programs
  grove diff manifests/ --applyset shop --prune    and what would be deleted
  grove diff workload.yaml --server            compare with the result of a server-side dry run
  grove compile set.yaml | grove diff -        compiled somewhere else

\b
Exit codes, as those of kubectl diff: 0 no differences, 1 differences, 2 an error, or objects could not be compared.""",
)
@input_options
@target_options
@manager_options
@applyset_options
@click.option("--server", is_flag=True, help="Compare with the result of a server-side dry run, which includes webhooks and defaults.")
@text_or_json_option
def command(output: str, server: bool, field_manager: str, **given: Any) -> int:
    """Show how the objects of FILE differ from those in the cluster, and who changed them.

    PodCliqueSets are compiled first, considering what exists; other manifests are used unchanged. Objects are compared locally, by
    their live content and field ownership; where that is not enough, a server-side dry run decides. With --server, there is a dry
    run of every object that would be written; unchanged objects are never sent. Values of Secrets are shown as hashes. With
    KUBECTL_EXTERNAL_DIFF an external program shows the differences, as with kubectl.
    """
    target, inputs = take_target(given), take_input(given)
    applyset = take_applyset(given, inputs)
    source = ClusterInput(inputs, target.namespace)

    async def work(session: Session) -> int:
        from applier.run.options import ApplyOptions

        graph = await source.graph(session)
        recorded = await applyset.options(session, source.led)
        options = ApplyOptions(field_manager, force_conflicts=inputs.force, applyset=recorded)
        code = await _diff(graph, session, options, output, server)
        if output == "text":
            _write_effects(source)
        return code

    return sessions.run(work, target, findings=EXIT_ERROR)


async def _diff(graph: Graph, session: Session, options: ApplyOptions, output: str, server: bool) -> int:
    from applier.run.difference import diff
    from grove_cli.cluster.diff.unified import differences

    compared = await diff(graph, session.cluster, options, ask_server=server)
    found = differences(compared)
    steps = [each.step for each in compared]
    program = _program() if output == "text" else []
    code = _show(program, found, steps) if program else EXIT_FINDINGS if found else EXIT_OK
    if not program:
        _write(found, steps, output)
    return EXIT_ERROR if any(step.action in UNDONE for step in steps) else code


def _write_effects(source: ClusterInput) -> None:
    from grove_cli import output as outputs
    from grove_cli.cluster.step_lines import effects_text
    from grove_cli.terminal import terminal_of

    if text := effects_text(source, terminal_of(sys.stdout)):
        outputs.write_text("\n" + text)


def _program() -> list[str]:
    if not os.environ.get("KUBECTL_EXTERNAL_DIFF"):
        return []
    from grove_cli.cluster.diff.external import external_program  # only if one is configured

    return external_program()


def _show(program: list[str], found: list[Shown], steps: list[Step]) -> int:
    """Shows differences by an external program, and prints the objects that could not be compared."""
    from grove_cli.cluster.diff.external import show
    from grove_cli.cluster.words import Folding, reason_of

    undone = Folding()
    for step in steps:
        if step.action in UNDONE:
            undone.add(step.ref, f"{step.action}: {reason_of(step)}")
    undone.end()
    code = show(program, found)
    return code if code in (EXIT_OK, EXIT_FINDINGS) else EXIT_ERROR


def _write(found: list[Shown], steps: list[Step], output: str) -> None:
    from grove_cli import output as outputs

    if output == "json":
        from grove_cli.cluster.words import steps_report

        outputs.write_report(steps_report(steps))
        return
    from grove_cli.cluster.diff.unified import diff_text
    from grove_cli.terminal import terminal_of

    counts = Counter(step.action for step in steps)
    outputs.write_text(diff_text(found, counts, terminal_of(sys.stdout)))
