"""Defines `grove job`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from grove_cli import output as outputs
from grove_cli.cluster import session as sessions
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import dry_run_option, query_options, snapshot_option, take_target
from grove_cli.cluster.session import Failed, Session
from grove_cli.group import Group
from grove_cli.options import output_option

if TYPE_CHECKING:
    from grove_cli.queries.job_query import RecordedJob

F = TypeVar("F", bound=Callable[..., Any])
DRY_RUN = {"--dry-run": "client"}


@click.group("job", cls=Group)
def command() -> None:
    """Show training workloads, suspend, resume and restart them."""


@command.command(
    "timeline",
    cls=OptionalValues,
    bare={},
    epilog="""\b
Examples:
  grove job timeline sft                          what happened when: starts, failures, restarts, events
  grove job timeline sft -o json                  and which rank ran when, by attempt
  grove job timeline sft -o svg > sft.svg         the same as a picture
  grove job timeline sft --snapshot now.yaml      from recorded objects

\b
Exit codes: 0 shown, 2 not found, or an error.""",
)
@click.argument("name", metavar="NAME")
@query_options
@snapshot_option
@output_option("text", "json", "svg", help_text="Output format: a table, all data as JSON, or a picture of ranks over time.")
def timeline(name: str, snapshot: str | None, output: str, **given: Any) -> int:
    """Print the history of a training workload.

    The status keeps the last ten attempts, the server keeps events for an hour; of earlier ranks only the attempt times are known.
    """
    target = take_target(given)
    if snapshot:
        return sessions.attempt(lambda: _of_file(snapshot, name, target.namespace, output))

    async def work(session: Session) -> int:
        from grove_cli.queries.job_query import read_job

        return _show(await read_job(session.cluster, name, session.namespace), output)

    return sessions.run(work, target)


def _of_file(snapshot: str, name: str, namespace: str, output: str) -> int:
    from grove_cli.operator.read_objects import in_file
    from grove_cli.queries.job_query import job_in

    return _show(job_in(in_file(snapshot).objects, name, namespace), output)


def _show(job: RecordedJob, output: str) -> int:
    if output == "svg":
        from grove_cli.queries.job_chart import chart
        from grove_cli.render.as_timeline import svg

        outputs.write([outputs.encoded(svg(chart(job, time.time())))])
        return 0
    from grove_cli.job.as_text import timeline_text, timeline_value
    from grove_cli.terminal import terminal_of

    outputs.write(
        [outputs.json_report(timeline_value(job)) if output == "json" else outputs.encoded(timeline_text(job, terminal_of(sys.stdout)))]
    )
    return 0


def _edits(name: str, example: str) -> Callable[[F], click.Command]:
    """Returns a command that applies an edit to workloads."""

    def decorate(function: F) -> click.Command:
        epilog = f"\b\nExample:\n  {example}\n\n\b\nExit codes: 0 done, 2 rejected, not found, or an error."
        options = dry_run_option("Write nothing: print what would be done (client), or let the server validate it (server).")(function)
        named = click.argument("names", metavar="NAME…", nargs=-1, required=True)(query_options(options))
        return command.command(name, cls=OptionalValues, bare=DRY_RUN, epilog=epilog)(named)

    return decorate


@_edits("suspend", "grove job suspend sft && kubectl wait pcs/sft --for=condition=Suspended")
def suspend(names: tuple[str, ...], dry_run: str, **given: Any) -> int:
    """Delete all pods of training workloads until they are resumed: their state is kept, the deadline pauses, no restart is counted."""
    return _edit("suspended", names, dry_run, given)


@_edits("resume", "grove job resume sft")
def resume(names: tuple[str, ...], dry_run: str, **given: Any) -> int:
    """Resume suspended training workloads, in new attempts."""
    return _edit("resumed", names, dry_run, given)


@_edits("restart", "grove job restart sft")
def restart(names: tuple[str, ...], dry_run: str, **given: Any) -> int:
    """End the running attempts and begin new ones, without counting a restart: for programs that hang. Finished replicas are not restarted.

    A workload that has succeeded or failed cannot be restarted: recreate it instead.
    """
    return _edit("restarted", names, dry_run, given)


def _edit(word: str, names: tuple[str, ...], dry_run: str, given: dict[str, Any]) -> int:
    target = take_target(given)

    async def work(session: Session) -> int:
        from applier.errors import ApplierError
        from grove_cli.queries.job_edits import EDITS, carry_out

        wrong: list[str] = []
        suffix = {"client": " (dry run)", "server": " (server dry run)"}.get(dry_run, "")
        for name in names:
            try:
                message = await carry_out(session.cluster, EDITS[word], name, session.namespace, time.time(), dry_run)
                outputs.write([outputs.encoded(f"{message}{suffix}\n")])
            except ApplierError as error:
                wrong.append(str(error))
        if wrong:
            raise Failed(*wrong)
        return 0

    return sessions.run(work, target)
