"""Defines `grove describe`: prints one page about an object, from a cluster or a file."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from grove_cli import cluster_or_file
from grove_cli import output as outputs
from grove_cli.cluster.completed_names import names_of
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import operator_config_option, query_options, snapshot_option
from grove_cli.cluster.target import take_target
from grove_cli.options import output_option, rules_option

if TYPE_CHECKING:
    from grove_cli.operator.read_objects import ReadObjects
    from grove_compiler.step import StepContext


@click.command(
    "describe",
    cls=OptionalValues,
    epilog="""\b
Examples:
  grove describe qwen                      a PodCliqueSet: its spec in short, status, conditions, waits, events, revisions
  grove describe pclq/qwen-0-decode        a PodClique, or a scaling group (pcsg), a gang (pg) or a pod
  grove describe qwen -o yaml              all of it as one document, for programs
  grove describe qwen --snapshot now.yaml  from recorded objects

\b
Exit codes: 0 shown, 2 not found, or an error.""",
)
@click.argument("name", metavar="[KIND/]NAME", shell_complete=names_of("PodCliqueSet"))
@query_options
@snapshot_option
@operator_config_option
@rules_option
@output_option("text", "json", "yaml", help_text="Output format: a page, or all of it as one document.")
def command(name: str, snapshot: str | None, config: str | None, rules: tuple[str, ...], output: str, **given: Any) -> int:
    """Describe an object on one page: spec in short, status, conditions, what it waits for, events and revisions.

    NAME is a PodCliqueSet unless it has the prefix KIND/, with kinds as in kubectl. As JSON or YAML the page is one document, with the
    spec and the status in full and all events.
    """
    return cluster_or_file.run_with_rules(take_target(given), snapshot, (config, rules), lambda *read: _print(name, output, *read))


def _print(name: str, output: str, read: ReadObjects, namespace: str, context: StepContext) -> int:
    from grove_cli.describe.page import page, page_value
    from grove_cli.queries.tree_query import find
    from grove_cli.terminal import terminal_of

    manifest, pcs = find(name, namespace, read.objects)
    now = time.time()
    if output == "text":
        outputs.write_text(page(manifest, pcs, read, context, now, terminal_of(sys.stdout)))
    else:
        outputs.write_report(page_value(manifest, pcs, read, context, now), output)
    return 0
