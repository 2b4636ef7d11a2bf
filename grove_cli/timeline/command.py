"""Defines `grove timeline`: shows what happened to a set over time, from a cluster or a file."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from grove_cli import cluster_or_file
from grove_cli import output as outputs
from grove_cli.cluster import session as sessions
from grove_cli.cluster.completed_names import names_of
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import duration, query_options, snapshot_option
from grove_cli.cluster.target import take_target
from grove_cli.options import output_option

if TYPE_CHECKING:
    from grove_cli.queries.timeline.objects import TimelineObjects
    from grove_cli.render.timeline import Chart

MAX_ROWS_OF_TEXT = 40


@click.command(
    "timeline",
    cls=OptionalValues,
    epilog="""\b
Examples:
  grove timeline qwen                          what happened when: pods, updates, terminations, scaling, events
  grove timeline qwen --since 30m              only the last half hour
  grove timeline qwen -o svg > qwen.svg        pods over time as a picture
  grove timeline sft -o json                   of a training job: which rank ran when, by attempt
  grove timeline qwen --snapshot now.yaml      from recorded objects

\b
Exit codes: 0 shown, 2 not found, or an error.""",
)
@click.argument("name", metavar="NAME", shell_complete=names_of("PodCliqueSet"))
@query_options
@snapshot_option
@click.option("--since", metavar="TIME", callback=duration, help="Only what happened in this time: 30m, 2h. Default: everything known.")
@output_option("text", "json", "svg", help_text="Output format: bars and a table, all data as JSON, or a picture of pods over time.")
def command(name: str, snapshot: str | None, since: float | None, output: str, **given: Any) -> int:
    """Show what happened to a set over time: pods with their gates and starts, updates, gang terminations, scaling, revisions, events.

    Of a training job its attempts. The status keeps the last ten attempts, and the server keeps events for an hour: of former pods only
    what these tell is known.
    """
    from grove_cli.queries.timeline.objects import objects_in, read_objects

    target = take_target(given)
    now = None if snapshot else time.time()
    return cluster_or_file.run(
        target,
        snapshot,
        lambda session: read_objects(session.cluster, name, session.namespace),
        lambda objects: objects_in(objects, name, target.namespace),
        lambda of: _show(of, now, since, output),
    )


def _show(of: TimelineObjects, now: float | None, since: float | None, output: str) -> int:
    """Prints the history until now; without `now` until the last time that is known, as it is in a file."""
    from grove_cli.queries.timeline import chart as charts

    whole = charts.chart(of, now, max_rows=MAX_ROWS_OF_TEXT if output == "text" else charts.MAX_ROWS)
    begin = whole.end - since if since is not None else 0.0
    outputs.write([_formatted(of, charts.since(whole, begin), begin, output)])
    for why in of.unread:
        sessions.say(f"not read: {why}")
    return 0


def _formatted(of: TimelineObjects, chart: Chart, begin: float, output: str) -> bytes:
    if output == "svg":
        from grove_cli.render.as_timeline import svg

        return outputs.encoded(svg(chart))
    from grove_cli.timeline.as_text import moments_text, timeline_value

    if output == "json":
        return outputs.json_report(timeline_value(of, begin))
    from grove_cli.render.timeline_text import timeline_lines
    from grove_cli.terminal import terminal_of

    terminal = terminal_of(sys.stdout)
    bars = "".join(f"{line}\n" for line in timeline_lines(chart, terminal)) if chart.rows else ""
    return outputs.encoded(f"{bars}\n{moments_text(of, terminal, begin)}" if bars else moments_text(of, terminal, begin))
