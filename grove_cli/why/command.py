"""Defines `grove why`: prints what an object waits for, from a cluster or a file."""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from grove_cli import cluster_or_file
from grove_cli import output as outputs
from grove_cli.cluster.completed_names import names_of
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import all_namespaces_option, operator_config_option, query_options, selector_option, snapshot_option
from grove_cli.cluster.target import take_target
from grove_cli.exit_codes import EXIT_FINDINGS
from grove_cli.options import rules_option, text_or_json_option

if TYPE_CHECKING:
    from grove_cli.operator.read_objects import ReadObjects
    from grove_compiler.step import StepContext

_BOTH = "NAME excludes -A and -l: specify one object, or all sets."


@click.command(
    "why",
    cls=OptionalValues,
    epilog="""\b
Examples:
  grove why qwen                           why a PodCliqueSet is not ready
  grove why pod/qwen-0-decode-x7k2p        why a pod is gated, pending or not ready
  grove why pg/qwen-0 -n inference         why a gang is not complete
  grove why -A                             every set that waits, the worst first
  grove why -l team=ml                     those with this label
  grove why qwen --snapshot now.yaml       the same from recorded objects

\b
Exit codes: 0 nothing waits, 1 something waits, 2 not found, or an error.""",
)
@click.argument("name", metavar="[KIND/]NAME", default="", shell_complete=names_of("PodCliqueSet"))
@query_options
@all_namespaces_option
@selector_option
@snapshot_option
@operator_config_option
@rules_option
@text_or_json_option
def command(
    name: str,
    all_namespaces: bool,
    selector: str,
    snapshot: str | None,
    config: str | None,
    rules: tuple[str, ...],
    output: str,
    **given: Any,
) -> int:
    """Show what an object waits for, since when, and what would end the wait, down to the root cause.

    NAME is a PodCliqueSet unless it has the prefix KIND/, with kinds as in kubectl. With -A or -l instead of NAME it is every set that
    waits, a line each, with its root cause: first what is held, then what serves least, then what has waited longest. Nothing is written
    to the cluster.
    """
    target = take_target(given)
    if bool(name) == (all_namespaces or bool(selector)):
        raise click.UsageError("NAME is missing: specify an object, or all sets with -A or -l." if not name else _BOTH)
    show = partial(_print_one, name, output) if name else partial(_print_several, selector, output)
    return cluster_or_file.run_with_rules(target, snapshot, (config, rules), show, all_namespaces=all_namespaces)


def _print_one(name: str, output: str, read: ReadObjects, namespace: str, context: StepContext) -> int:
    from applier.ref import Ref
    from grove_cli.queries.tree_query import find
    from grove_cli.terminal import terminal_of
    from grove_cli.why.as_text import why_report, why_text
    from grove_cli.why.causes import causes_in

    now = time.time()
    manifest, pcs = find(name, namespace, read.objects)
    root = Ref.of(manifest)
    causes = causes_in(read, manifest, pcs, context, now)
    if output == "json":
        outputs.write_report(why_report(root, causes))
    else:
        outputs.write_text(why_text(root, causes, now, terminal_of(sys.stdout)))
    return EXIT_FINDINGS if causes else 0


def _print_several(selector: str, output: str, read: ReadObjects, namespace: str, context: StepContext) -> int:
    from grove_cli.terminal import terminal_of
    from grove_cli.why.several import several_text, several_value, waiting_sets

    now = time.time()
    waiting = waiting_sets(read, context, now, namespace, selector)
    if output == "json":
        outputs.write_report(several_value(waiting))
    else:
        outputs.write_text(several_text(waiting, now, terminal_of(sys.stdout), with_namespaces=not namespace))
    return EXIT_FINDINGS if waiting else 0
