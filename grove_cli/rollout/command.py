"""Defines `grove rollout`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from grove_cli.cluster import session as sessions
from grove_cli.cluster.completed_names import names_of, revision_numbers
from grove_cli.cluster.optional_values import OptionalValues
from grove_cli.cluster.options import BARE_EDIT, duration, edit_dry_run_option, query_options
from grove_cli.cluster.session import Session
from grove_cli.cluster.target import take_target
from grove_cli.commands import Group
from grove_cli.options import adding, output_option, text_or_json_option

F = TypeVar("F", bound=Callable[..., Any])


@click.group("rollout", cls=Group)
def command() -> None:
    """Follow, list, start, pause and undo rollouts of PodCliqueSets."""


def _no_timeout(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Parses a timeout; as with kubectl, 0 is none."""
    return None if value is not None and value.strip() in ("0", "0s") else duration(context, parameter, value)


@command.command(
    "status",
    cls=OptionalValues,
    epilog="""\b
Examples:
  grove rollout status chat                     follow the rollout until it ends
  grove rollout status chat --timeout 10m       for at most ten minutes
  grove rollout status chat --watch=false       the current progress

\b
Exit codes: 0 the rollout has ended, 1 it has not, or makes no progress for a progressDeadline, 2 not found, or an error.""",
)
@click.argument("name", metavar="NAME", shell_complete=names_of("PodCliqueSet"))
@query_options
@click.option("-w", "--watch/--no-watch", default=True, show_default=True, help="Follow the rollout until it ends.")
@click.option("--timeout", metavar="DURATION", callback=_no_timeout, help="How long to follow it, such as 10m. Default: no limit.")
@text_or_json_option
def status(name: str, watch: bool, timeout: float | None, output: str, **given: Any) -> int:
    """Show the progress of a rollout, and follow it until all pods are updated and all replicas available."""

    async def work(session: Session) -> int:
        from grove_cli.rollout.status import show_status

        return await show_status(session, name, watch=watch, timeout=timeout, output=output)

    return sessions.run(work, take_target(given), long=watch)


@command.command(
    "history",
    cls=OptionalValues,
    epilog="""\b
Examples:
  grove rollout history chat                    the recorded revisions, and what each of them changed
  grove rollout history chat --revision 2       the pod templates of one

\b
Exit codes: 0 shown, 2 not found, or an error.""",
)
@click.argument("name", metavar="NAME", shell_complete=names_of("PodCliqueSet"))
@query_options
@click.option("--revision", type=int, metavar="N", shell_complete=revision_numbers, help="Show the pod templates of this revision.")
@output_option("text", "json", "yaml")
def history(name: str, revision: int | None, output: str, **given: Any) -> int:
    """List the revisions of a set's pod templates.

    The operator keeps those that pods still use, and two more, so numbers may be missing. One that is rolled back to gets a new number.
    """

    async def work(session: Session) -> int:
        from grove_cli.rollout.history import show_history

        return await show_history(session, name, revision or None, output)

    return sessions.run(work, take_target(given))


def _edits(name: str, epilog: str, *options: Callable[[F], F]) -> Callable[[F], click.Command]:
    """Returns a command that edits sets."""

    def decorate(function: F) -> click.Command:
        codes = "\n\n\b\nExit codes: 0 done, 1 a tool owns the fields, so nothing was changed, 2 rejected, or an error."
        force = click.option("--force", is_flag=True, help="Also change fields that Flux, Argo CD, Helm or kubectl apply owns.")
        with_options = adding(query_options, *options, edit_dry_run_option, force)(function)
        return command.command(name, cls=OptionalValues, bare=BARE_EDIT, epilog=f"\b\nExamples:\n{epilog}{codes}")(with_options)

    return decorate


_names = click.argument("names", metavar="NAME…", nargs=-1, required=True, shell_complete=names_of("PodCliqueSet"))
_name = click.argument("name", metavar="NAME", shell_complete=names_of("PodCliqueSet"))


@_edits("restart", "  grove rollout restart chat && grove rollout status chat", _names)
def restart(names: tuple[str, ...], dry_run: str, force: bool, **given: Any) -> int:
    """Replace all pods, one after the other, as an update does: by an annotation of their templates, like kubectl."""
    return _edit("restart", names, dry_run, force, given)


@_edits("pause", "  grove rollout pause chat", _names)
def pause(names: tuple[str, ...], dry_run: str, force: bool, **given: Any) -> int:
    """Pause a rollout: the operator replaces no more pods until it is resumed.

    Sets spec.updateStrategy.type to OnDelete, and records the old value in the annotation grove.io/rollout-paused. A pod that is deleted
    meanwhile, or created by scaling out, has the new template.
    """
    return _edit("pause", names, dry_run, force, given)


@_edits("resume", "  grove rollout resume chat", _names)
def resume(names: tuple[str, ...], dry_run: str, force: bool, **given: Any) -> int:
    """Resume a paused rollout: restores the recorded updateStrategy."""
    return _edit("resume", names, dry_run, force, given)


@_edits(
    "undo",
    "  grove rollout undo chat                       back to the templates before the last change\n"
    "  grove rollout undo chat --to-revision 3       to those of a revision that `grove rollout history` lists",
    _name,
    click.option(
        "--to-revision", type=click.IntRange(min=0), default=0, metavar="N", shell_complete=revision_numbers,
        help="The revision to go back to. Default, and for 0: the previous one.",
    ),
)  # fmt: skip
def undo(name: str, to_revision: int, dry_run: str, force: bool, **given: Any) -> int:
    """Restore the pod templates of an earlier revision in the set, which rolls its pods back. Numbers of replicas do not change."""
    return _edit("undo", (name,), dry_run, force, given, to_revision)


def _edit(what: str, names: tuple[str, ...], dry_run: str, force: bool, given: dict[str, Any], revision: int = 0) -> int:
    async def work(session: Session) -> int:
        from grove_cli.rollout.edit import edit_sets

        return await edit_sets(session, what, names, dry_run=dry_run, force=force, revision=revision)

    return sessions.run(work, take_target(given))
