"""`grove get`: what is in a cluster."""

from __future__ import annotations

from typing import Any

import click

from grove_operator.cli import output as outputs
from grove_operator.cli.cluster import session as sessions
from grove_operator.cli.cluster.optional_values import OptionalValues
from grove_operator.cli.cluster.options import take_target, target_options
from grove_operator.cli.cluster.session import Session, program_of
from grove_operator.cli.options import rules_option, text_or_json_option


@click.group("get")
def command() -> None:
    """Show what is in a cluster."""


@command.command(
    "tree",
    cls=OptionalValues,
    bare={},
    epilog="""\b
Examples:
  grove get tree qwen                  a PodCliqueSet, all it owns, and why it is not ready
  grove get tree deploy/web -n shop    any other object
  grove get tree qwen --watch          again whenever something changes
  grove get tree qwen -o json | jq '.. | select(.gates?) | .name'

\b
Exit codes: 0 shown, 2 not there, or something is wrong.""",
)
@click.argument("name", metavar="[KIND/]NAME")
@target_options
@click.option("-w", "--watch", is_flag=True, help="Draw it again whenever something of it changes, until interrupted.")
@click.option("--ignore-not-found", is_flag=True, help="Where the object is not there, show nothing; that is fine.")
@rules_option
@text_or_json_option
def tree(name: str, watch: bool, ignore_not_found: bool, rules: tuple[str, ...], output: str, **given: Any) -> int:
    """Draw an object with everything that it owns: readiness, gates, nodes, and reasons.

    NAME is a PodCliqueSet unless a kind stands before it, as kubectl writes kinds.
    """
    target = take_target(given)

    async def work(session: Session) -> int:
        from grove_operator.cli.cluster.get.output import tree_bytes
        from grove_operator.cluster.readiness import judge_by
        from grove_operator.cluster.tree_query import NotThere, read_tree

        judge = judge_by(program_of(rules))
        if watch:
            from grove_operator.cli.cluster.get.watch import watch_tree

            return await watch_tree(session, name, output, judge)
        try:
            forest = await read_tree(session.cluster, name, session.namespace)
        except NotThere:
            if ignore_not_found:
                return 0
            raise
        outputs.write([tree_bytes(forest, output, judge)])
        return 0

    return sessions.run(work, target, long=watch)
