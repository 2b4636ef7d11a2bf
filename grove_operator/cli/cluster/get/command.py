"""Defines `grove get`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grove_operator.cli import output as outputs
from grove_operator.cli.cluster import session as sessions
from grove_operator.cli.cluster.optional_values import OptionalValues
from grove_operator.cli.cluster.options import all_namespaces_option, query_options, take_target
from grove_operator.cli.cluster.session import Session, program_of
from grove_operator.cli.group import Group
from grove_operator.cli.options import rules_option, text_or_json_option

if TYPE_CHECKING:
    from grove_operator.cli.cluster.get.watch import Read

watch_option = click.option("-w", "--watch", is_flag=True, help="Redraw whenever something changes, until interrupted.")


@click.group("get", cls=Group)
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
@query_options
@watch_option
@click.option("--ignore-not-found", is_flag=True, help="Show nothing and succeed if the object does not exist.")
@rules_option
@text_or_json_option
def tree(name: str, watch: bool, ignore_not_found: bool, rules: tuple[str, ...], output: str, **given: Any) -> int:
    """Draw an object with everything that it owns: readiness, gates, nodes, and reasons.

    NAME is a PodCliqueSet unless a kind stands before it, as kubectl writes kinds.
    """
    target = take_target(given)

    async def work(session: Session) -> int:
        from grove_operator.cli.cluster.get.output import drawn_tree
        from grove_operator.cli.cluster.get.watch import Drawing
        from grove_operator.cluster.readiness import readiness_check
        from grove_operator.cluster.tree_query import NotThere, read_tree

        check = readiness_check(program_of(rules))

        async def read() -> Drawing:
            return drawn_tree(await read_tree(session.cluster, name, session.namespace), output, check)

        try:
            return await _shown(session, read, session.namespace, output, watch)
        except NotThere:
            if ignore_not_found and not watch:
                return 0
            raise

    return sessions.run(work, target, long=watch)


@command.command(
    "sets",
    cls=OptionalValues,
    bare={},
    epilog="""\b
Examples:
  grove get sets                       the PodCliqueSets of a namespace: ready, gated, updated, and why they wait
  grove get sets -A --watch            of all namespaces, again whenever something changes
  grove get sets -o json               for programs

\b
Exit codes: 0 shown, 2 something is wrong.""",
)
@query_options
@all_namespaces_option
@watch_option
@text_or_json_option
def sets(all_namespaces: bool, watch: bool, output: str, **given: Any) -> int:
    """List PodCliqueSets: replicas and pods that are ready, gates, updates, GPUs in use, and why a set waits."""
    target = take_target(given)

    async def work(session: Session) -> int:
        from grove_operator.cli.cluster.get.output import drawn_sets
        from grove_operator.cli.cluster.get.watch import Drawing
        from grove_operator.cluster.sets_query import read_sets

        namespace = "" if all_namespaces else session.namespace

        async def read() -> Drawing:
            return drawn_sets(await read_sets(session.cluster, namespace), output, with_namespaces=all_namespaces)

        return await _shown(session, read, namespace, output, watch)

    return sessions.run(work, target, long=watch)


async def _shown(session: Session, read: Read, namespace: str, output: str, watch: bool) -> int:
    if watch:
        from grove_operator.cli.cluster.get.watch import watch as draw_again

        return await draw_again(session, read, namespace, output)
    outputs.write([(await read()).text])
    return 0
