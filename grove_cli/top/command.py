"""Defines `grove top`: prints what the pods of a set ask for and use."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from grove_cli import cluster_or_file
from grove_cli import output as outputs
from grove_cli.cluster import session as sessions
from grove_cli.cluster.completed_names import names_of
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import query_options, snapshot_option
from grove_cli.cluster.target import take_target
from grove_cli.options import text_or_json_option

if TYPE_CHECKING:
    from grove_cli.queries.usage import UsageObjects


@click.command(
    "top",
    cls=OptionalValues,
    epilog="""\b
Examples:
  grove top qwen                           pods, GPUs, CPU and memory of a PodCliqueSet, by gang and by domain
  grove top qwen -o json                   for programs: CPU in thousandths, memory in bytes
  grove top qwen --snapshot now.yaml       from recorded objects

\b
Exit codes: 0 shown, 2 not found, or an error.""",
)
@click.argument("name", metavar="NAME", shell_complete=names_of("PodCliqueSet"))
@query_options
@snapshot_option
@text_or_json_option
def command(name: str, snapshot: str | None, output: str, **given: Any) -> int:
    """Show what the pods of a set request, by gang and by domain: ComputeDomains, and the domains of its topology constraints.

    If metrics.k8s.io is served, their CPU and memory usage is shown as well.
    """
    from grove_cli.queries.usage import read_usage, recorded_usage

    target = take_target(given)
    return cluster_or_file.run(
        target,
        snapshot,
        lambda session: read_usage(session.cluster, name, session.namespace),
        lambda objects: recorded_usage(name, target.namespace, objects),
        lambda read: _print(read, output),
    )


def _print(read: UsageObjects, output: str) -> int:
    from grove_cli.queries.usage import usage_of
    from grove_cli.terminal import terminal_of
    from grove_cli.top.as_text import usage_text, usage_value

    usage = usage_of(read.set, read.objects)
    text = outputs.json_report(usage_value(usage)) if output == "json" else outputs.encoded(usage_text(usage, terminal_of(sys.stdout)))
    outputs.write([text])
    for why in read.unread:
        sessions.say(f"not read: {why}")
    return 0
