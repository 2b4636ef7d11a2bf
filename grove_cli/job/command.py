"""Defines `grove job`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from grove_cli import output as outputs
from grove_cli.cluster import session as sessions
from grove_cli.cluster.completed_names import names_of
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import BARE_EDIT, edit_dry_run_option, query_options
from grove_cli.cluster.session import Failed, Session, say
from grove_cli.cluster.target import take_target
from grove_cli.commands import Group
from grove_cli.options import adding
from grove_cli.timeline import command as timeline

F = TypeVar("F", bound=Callable[..., Any])


@click.group("job", cls=Group)
def command() -> None:
    """Suspend, resume and restart training workloads; `timeline` is `grove timeline`."""


command.add_command(timeline.command)


def _edits(name: str, example: str) -> Callable[[F], click.Command]:
    """Returns a command that applies an edit to workloads."""

    def decorate(function: F) -> click.Command:
        epilog = f"\b\nExample:\n  {example}\n\n\b\nExit codes: 0 done, 2 rejected, not found, or an error."
        names = click.argument("names", metavar="NAME…", nargs=-1, required=True, shell_complete=names_of("PodCliqueSet"))
        with_options = adding(names, query_options, edit_dry_run_option)(function)
        return command.command(name, cls=OptionalValues, bare=BARE_EDIT, epilog=epilog)(with_options)

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
        from grove_cli.cluster.lines import SUFFIXES
        from grove_cli.queries.job_edits import EDITS, carry_out

        wrong: list[str] = []
        for name in names:
            try:
                done = await carry_out(session.cluster, EDITS[word], name, session.namespace, time.time(), dry_run)
                outputs.write_text(f"{done.message}{SUFFIXES.get(dry_run, '')}\n")
                if done.note:
                    say(done.note)
            except ApplierError as error:
                wrong.append(str(error))
        if wrong:
            raise Failed(*wrong)
        return 0

    return sessions.run(work, target)
