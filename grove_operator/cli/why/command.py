"""Defines `grove why`: prints what an object waits for, from a cluster or a file."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from grove_operator.cli import output as outputs
from grove_operator.cli.cluster import session as sessions
from grove_operator.cli.cluster.options import operator_config_option, query_options, snapshot_option, take_target
from grove_operator.cli.cluster.session import Session
from grove_operator.cli.options import rules_option, text_or_json_option

if TYPE_CHECKING:
    from grove_compiler.step import Context
    from grove_operator.cli.operator.read_objects import ReadObjects

WAITS = 1


@click.command(
    "why",
    epilog="""\b
Examples:
  grove why qwen                           why a PodCliqueSet is not ready
  grove why pod/qwen-0-decode-x7k2p        why a pod is gated, pending or not ready
  grove why pg/qwen-0 -n inference         why a gang is not complete
  grove why qwen --snapshot now.yaml       the same from recorded objects

\b
Exit codes: 0 it waits for nothing, 1 it waits, 2 not there, or something is wrong.""",
)
@click.argument("name", metavar="[KIND/]NAME")
@query_options
@snapshot_option
@operator_config_option
@rules_option
@text_or_json_option
def command(name: str, snapshot: str | None, config: str | None, rules: tuple[str, ...], output: str, **given: Any) -> int:
    """Show what an object waits for, since when, and what would end the wait, down to the root cause.

    NAME is a PodCliqueSet unless a kind stands before it, as kubectl writes kinds. Nothing is written to the cluster.
    """
    target = take_target(given)
    if snapshot:
        return sessions.attempt(lambda: _of_file(snapshot, name, target.namespace, config, rules, output))

    async def work(session: Session) -> int:
        from grove_operator.cli.operator.read_objects import in_cluster
        from grove_operator.cli.operator.start_files import live_context, read_start_files

        shared = await live_context(read_start_files(config, rules), session)
        read = await in_cluster(session.cluster, shared, session.namespace)
        return _print(name, session.namespace, read, shared, output)

    return sessions.run(work, target)


def _of_file(snapshot: str, name: str, namespace: str, config: str | None, rules: tuple[str, ...], output: str) -> int:
    from grove_operator.cli.operator.read_objects import in_file
    from grove_operator.cli.operator.start_files import recorded_context

    return _print(name, namespace, in_file(snapshot), recorded_context(config, rules), output)


def _print(name: str, namespace: str, read: ReadObjects, context: Context, output: str) -> int:
    from applier.ref import Ref
    from grove_operator.cli.why.as_text import why_text, why_value
    from grove_operator.cluster.why import reasons
    from grove_operator.cluster.why_query import find
    from grove_operator.controller.waiting import waits_of
    from grove_operator.terminal import terminal_of

    now = time.time()
    object, set = find(name, namespace, read.objects)
    root = Ref.of(object)
    causes = reasons(root, waits_of(set, read.objects, read.unserved, context, now, object))
    if output == "json":
        report: dict[str, Any] = {"kind": root.kind, "namespace": root.namespace, "name": root.name, "waits": why_value(causes)}
        outputs.write([outputs.json_report(report)])
    else:
        outputs.write([outputs.encoded(why_text(root, causes, now, terminal_of(sys.stdout)))])
    return WAITS if causes else 0
