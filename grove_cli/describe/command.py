"""Defines `grove describe`: prints one page about an object, from a cluster or a file."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from grove_cli import output as outputs
from grove_cli.cluster import session as sessions
from grove_cli.cluster.completed_names import names_of
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import operator_config_option, query_options, snapshot_option, take_target
from grove_cli.cluster.session import Session
from grove_cli.options import rules_option

if TYPE_CHECKING:
    from grove_cli.operator.read_objects import ReadObjects
    from grove_compiler.step import StepContext


@click.command(
    "describe",
    cls=OptionalValues,
    bare={},
    epilog="""\b
Examples:
  grove describe qwen                      a PodCliqueSet: its spec in short, status, conditions, waits, events, revisions
  grove describe pclq/qwen-0-decode        a PodClique, or a scaling group (pcsg), a gang (pg) or a pod
  grove describe qwen --snapshot now.yaml  from recorded objects

\b
Exit codes: 0 shown, 2 not found, or an error.""",
)
@click.argument("name", metavar="[KIND/]NAME", shell_complete=names_of("PodCliqueSet"))
@query_options
@snapshot_option
@operator_config_option
@rules_option
def command(name: str, snapshot: str | None, config: str | None, rules: tuple[str, ...], **given: Any) -> int:
    """Describe an object on one page: spec in short, status, conditions, what it waits for, events and revisions.

    NAME is a PodCliqueSet unless it has the prefix KIND/, with kinds as in kubectl.
    """
    target = take_target(given)
    if snapshot:
        return sessions.attempt(lambda: _of_file(snapshot, name, target.namespace, config, rules))

    async def work(session: Session) -> int:
        from grove_cli.operator.read_objects import in_cluster
        from grove_cli.operator.start_files import live_context, read_start_files

        shared = await live_context(read_start_files(config, rules), session)
        return _print(name, session.namespace, await in_cluster(session.cluster, shared, session.namespace), shared)

    return sessions.run(work, target)


def _of_file(snapshot: str, name: str, namespace: str, config: str | None, rules: tuple[str, ...]) -> int:
    from grove_cli.operator.read_objects import in_file
    from grove_cli.operator.start_files import recorded_context

    return _print(name, namespace, in_file(snapshot), recorded_context(config, rules))


def _print(name: str, namespace: str, read: ReadObjects, context: StepContext) -> int:
    from grove_cli.describe.page import page
    from grove_cli.queries.why_query import find
    from grove_cli.terminal import terminal_of

    manifest, pcs = find(name, namespace, read.objects)
    outputs.write([outputs.encoded(page(manifest, pcs, read, context, time.time(), terminal_of(sys.stdout)))])
    return 0
