"""Implements `grove events`: prints the operator's events about its objects, from a cluster or a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from grove_cli import cluster_or_file
from grove_cli import output as outputs
from grove_cli.cluster import session as sessions
from grove_cli.cluster.completed_names import names_of
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import all_namespaces_option, query_options, snapshot_option
from grove_cli.cluster.session import Session
from grove_cli.cluster.target import take_target
from grove_cli.options import text_or_json_option

if TYPE_CHECKING:
    from applier.ref import Manifest
    from grove_cli.events.read import EventQuery
    from grove_cli.queries.events_query import EventLine

    _Events = tuple[list[EventLine], str]

TYPES = ("Normal", "Warning")


def _types(_: click.Context, __: click.Parameter, value: str) -> Collection[str]:
    """Parses comma-separated types, in any case, as kubectl does."""
    known = {event_type.lower(): event_type for event_type in TYPES}
    types = [event_type.strip().lower() for event_type in value.split(",") if event_type.strip()]
    if unknown := [event_type for event_type in types if event_type not in known]:
        raise click.BadParameter(f"{unknown[0]!r} is not a type of event: expected {' or '.join(TYPES)}.")
    return {known[event_type] for event_type in types}


@click.command(
    "events",
    cls=OptionalValues,
    epilog="""\b
Examples:
  grove events                             the events of a namespace, sorted by time
  grove events qwen                        of a PodCliqueSet and its objects
  grove events pclq/qwen-0-decode -w       of a PodClique, and new ones until interrupted
  grove events -A --types Warning          of all namespaces, only warnings
  grove events --snapshot now.yaml         from recorded objects

\b
Exit codes: 0 shown, 2 an error.""",
)
@click.argument("name", metavar="[[KIND/]NAME]", default="", shell_complete=names_of("PodCliqueSet"))
@query_options
@all_namespaces_option
@click.option("-w", "--watch", is_flag=True, help="Follow new events, until interrupted.")
@click.option("--types", default="", metavar="TYPE[,TYPE]", callback=_types, help="Only events of these types: Normal, Warning.")
@snapshot_option
@text_or_json_option
def command(name: str, all_namespaces: bool, watch: bool, types: Collection[str], snapshot: str | None, output: str, **given: Any) -> int:
    """List the operator's events by time. Repeated events about an object for one reason are one line, with their count and age.

    NAME is a PodCliqueSet, including its objects, unless it has the prefix KIND/, with kinds as in kubectl.
    """
    target = take_target(given)
    if watch and snapshot:
        raise click.UsageError("Objects in a file do not change: omit --watch or --snapshot.")
    from grove_cli.events.read import event_query, events_in, follow, read_events

    async def followed(session: Session) -> int:
        return await follow(session.cluster, await query_of(session), output)

    async def query_of(session: Session) -> EventQuery:
        return await event_query(session.cluster, name, "" if all_namespaces else session.namespace, types)

    async def live(session: Session) -> _Events:
        query = await query_of(session)
        return await read_events(session.cluster, query), query.namespace

    def recorded(objects: Sequence[Manifest]) -> _Events:
        namespace = "" if all_namespaces else target.namespace
        return events_in(objects, name, namespace, types), namespace

    if watch:
        return sessions.run(followed, target, long=True)
    return cluster_or_file.run(target, snapshot, live, recorded, lambda read: _print(read[0], output, with_namespaces=not read[1]))


def _print(events: list[EventLine], output: str, *, with_namespaces: bool) -> int:
    from grove_cli.events.as_text import event_value, events_text
    from grove_cli.terminal import terminal_of

    if output == "json":
        outputs.write_report([event_value(event) for event in events])
    elif events:
        outputs.write_text(events_text(events, time.time(), terminal_of(sys.stdout), with_namespaces=with_namespaces))
    else:
        sessions.say("No events found; servers delete events after an hour.")
    return 0
