"""`grove get`: what is in a cluster."""

from __future__ import annotations

import sys
from typing import Any

import click

from grove_operator.cli import cluster_session
from grove_operator.cli import output as outputs
from grove_operator.cli.cluster_options import take_target, target_options
from grove_operator.cli.cluster_session import Session


@click.group("get")
def command() -> None:
    """Show what is in a cluster."""


@command.command(
    "tree",
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
@click.option(
    "-o",
    "--output",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="For people or for programs.",
)
def tree(name: str, watch: bool, output: str, **given: Any) -> int:
    """Draw an object with everything that it owns: readiness, gates, nodes, and reasons.

    NAME is a PodCliqueSet unless a kind stands before it, as kubectl writes kinds.
    """
    target = take_target(given)

    async def work(session: Session) -> int:
        from grove_operator.cluster.tree_reading import read_tree

        if watch:
            from grove_operator.cli.tree_watch import watch_tree

            return await watch_tree(session, name, output)
        forest = await read_tree(session.cluster, name, session.namespace)
        outputs.write([rendered(forest, output)])
        return 0

    return cluster_session.run(work, target, long=watch)


def rendered(forest: Any, output: str) -> bytes:
    """The tree as text or JSON."""
    from grove_operator.cli.tree_text import tree_text, tree_value
    from grove_operator.cluster.readiness import judge

    if output == "json":
        import json

        return (json.dumps(tree_value(forest.top, judge), indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    from grove_operator.cli.terminal import terminal_of

    return tree_text(forest.top, judge, terminal_of(sys.stdout), forest.unread).encode("utf-8", "backslashreplace")
