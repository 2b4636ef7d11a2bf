"""Defines `grove logs`."""

from __future__ import annotations

import math
from typing import Any

import click

from grove_cli.cluster import session as sessions
from grove_cli.cluster.completed_names import clique_names, names_of
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import duration, query_options, text_option
from grove_cli.cluster.session import Session
from grove_cli.cluster.target import take_target

TAIL = 10
"""Lines of each container without --tail and --since, as `kubectl logs` prints them of several pods."""


@click.command(
    "logs",
    cls=OptionalValues,
    epilog="""\b
Examples:
  grove logs chat                           the last lines of all pods, by time
  grove logs chat --clique decode -f        of a clique, and new ones until interrupted, also of new pods
  grove logs chat --replica 1 --since 10m   of a replica of the set, of the last ten minutes
  grove logs chat -c main --previous        of containers before their last restart

\b
Exit codes: 0 shown, 2 not found, or an error.""",
)
@click.argument("name", metavar="NAME", shell_complete=names_of("PodCliqueSet"))
@query_options
@text_option("--clique", metavar="NAME", shell_complete=clique_names, help="Only pods of this clique.")
@click.option("--replica", type=click.IntRange(min=0), metavar="N", help="Only pods of this replica of the set.")
@text_option("-c", "--container", metavar="NAME", help="Only this container. Default: all but init containers.")
@click.option("-f", "--follow", is_flag=True, help="Follow new lines, and new pods, until interrupted.")
@click.option(
    "--tail",
    type=click.IntRange(min=-1),
    metavar="LINES",
    help="Number of last lines per container; -1 for all. Default: 10, or all with --since.",
)
@click.option("--since", metavar="DURATION", callback=duration, help="Only lines newer than this duration, such as 30s, 5m or 2h.")
@click.option("--timestamps", is_flag=True, help="Print the time of each line.")
@click.option("-p", "--previous", is_flag=True, help="The logs of containers before their last restart.")
@click.option("--prefix/--no-prefix", default=True, show_default=True, help="Prefix each line with its pod.")
@click.option(
    "--max-log-requests",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    metavar="N",
    help="Maximum number of concurrent log requests.",
)
def command(
    name: str,
    clique: str,
    replica: int | None,
    container: str,
    follow: bool,
    tail: int | None,
    since: float | None,
    previous: bool,
    **given: Any,
) -> int:
    """Print the logs of a set's pods side by side, each line with its pod. Pods without logs yet are listed, and are not an error."""
    if follow and previous:
        raise click.UsageError("Logs of previous containers cannot be followed: omit --follow or --previous.")
    if tail is None:
        tail = TAIL if since is None else -1
    query = {"previous": "true"} if previous else {}
    query |= {"tailLines": str(tail)} if tail >= 0 else {}
    query |= {"sinceSeconds": str(math.ceil(since))} if since is not None else {}
    layout = {key: given.pop(key) for key in ("timestamps", "prefix")}
    limit = given.pop("max_log_requests")

    async def work(session: Session) -> int:
        from grove_cli.logs.read import Printer, show_logs
        from grove_cli.queries.log_sources import LogSelection

        selection = LogSelection(name.rpartition("/")[2], clique, replica, container)
        return await show_logs(session, name, selection, query, Printer(**layout), follow=follow, limit=limit)

    return sessions.run(work, take_target(given), long=follow)
