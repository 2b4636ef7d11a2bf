"""Defines `grove get`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from grove_cli import output as outputs
from grove_cli.cluster import session as sessions
from grove_cli.cluster.completed_names import names_of
from grove_cli.cluster.get.lists import LISTINGS, WithAliases, watch_option
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import query_options
from grove_cli.cluster.session import Session, program_of
from grove_cli.cluster.target import take_target
from grove_cli.options import rules_option, text_or_json_option

if TYPE_CHECKING:
    from grove_cli.cluster.get.watch import Read


@click.group("get", cls=WithAliases)
def command() -> None:
    """Show what is in a cluster."""


@command.command(
    "tree",
    cls=OptionalValues,
    epilog="""\b
Examples:
  grove get tree qwen                  a PodCliqueSet, everything it owns, and why it is not ready
  grove get tree deploy/web -n shop    any other object
  grove get tree qwen --watch          redraw on every change
  grove get tree qwen -o json | jq '.. | select(.gates?) | .name'

\b
Exit codes: 0 shown, 2 not found, or an error.""",
)
@click.argument("name", metavar="[KIND/]NAME", shell_complete=names_of("PodCliqueSet"))
@query_options
@watch_option
@click.option("--ignore-not-found", is_flag=True, help="Show nothing and succeed if the object does not exist.")
@rules_option
@text_or_json_option
def tree(name: str, watch: bool, ignore_not_found: bool, rules: tuple[str, ...], output: str, **given: Any) -> int:
    """Draw an object with everything that it owns: readiness, gates, nodes, and reasons.

    NAME is a PodCliqueSet unless it has the prefix KIND/, with kinds as in kubectl.
    """
    target = take_target(given)

    async def work(session: Session) -> int:
        from grove_cli.cluster.get.output import drawn_tree
        from grove_cli.cluster.get.watch import Drawing
        from grove_cli.queries.readiness import readiness_check
        from grove_cli.queries.tree_query import NotThere, read_tree

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


async def _shown(session: Session, read: Read, namespace: str, output: str, watch: bool) -> int:
    if watch:
        from grove_cli.cluster.get.watch import watch as draw_again

        return await draw_again(session, read, namespace, output)
    outputs.write([(await read()).text])
    return 0


for _listing in LISTINGS:
    command.add_command(_listing)
