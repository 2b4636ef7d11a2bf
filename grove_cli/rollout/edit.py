"""Carries out edits of sets, and prints what came of each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from applier.cluster import Cluster
from applier.errors import ApplierError
from applier.ref import Manifest
from grove_cli import output as outputs
from grove_cli.cluster.lines import SUFFIXES
from grove_cli.cluster.session import Failed, Session, program_of, say
from grove_cli.exit_codes import EXIT_FINDINGS
from grove_cli.queries.rollout import edits
from grove_cli.queries.rollout.carry_out import Done, Plan, carry_out
from grove_cli.queries.rollout.edits import SetEdit
from grove_cli.queries.rollout.field_owners import OwningTool, Tool
from grove_cli.queries.rollout.history import undo_to
from grove_cli.queries.sets_query import held_note
from grove_cli.terminal import visible


async def edit_sets(session: Session, what: str, names: Sequence[str], *, dry_run: str, force: bool, revision: int) -> int:
    """Edits each set once, and returns the exit code. Raises `Failed` with the errors of all."""
    wrong: list[str] = []
    code = 0
    for name in dict.fromkeys(names):
        try:
            done = await carry_out(session.cluster, _plan(what, revision), name, session.namespace, dry_run=dry_run, force=force)
        except ApplierError as error:
            wrong.append(str(error))
            continue
        if done.owners:
            code = EXIT_FINDINGS
            _say_owned(done)
        else:
            outputs.write([outputs.encoded(f"{line}\n") for line in _lines(done, dry_run)])
            _say_notes(done, is_undo=what == "undo")
    if wrong:
        raise Failed(*wrong)
    return code


def _plan(what: str, revision: int) -> Plan:
    async def plan(cluster: Cluster, pcs: Manifest) -> SetEdit:
        if what == "undo":
            return await undo_to(cluster, pcs, revision, program_of(()))
        if what == "restart":
            return edits.restart(pcs, time.time())
        return edits.pause(pcs) if what == "pause" else edits.resume(pcs)

    return plan


def _lines(done: Done, dry_run: str) -> Iterator[str]:
    edit = done.edit
    if edit.changes:
        yield f"{visible(done.name)} {edit.word}{SUFFIXES.get(dry_run, '')}"
        yield from (f"  {visible(line)}" for line in edit.details if dry_run != "none")
    else:
        yield f"{visible(done.name)} {edit.unchanged or f'already {edit.word}'}"


def _say_owned(done: Done) -> None:
    for owner in _merged(done.owners):
        say(
            f"{done.name}: {owner.tool.name} owns {owner.fields}, and {owner.tool.reaction}: "
            "change its manifests, or use --force to change the set temporarily"
        )


def _merged(owners: Sequence[OwningTool]) -> Iterator[OwningTool]:
    """Yields one owner for each tool, which may have several entries."""
    by_tool: dict[Tool, OwningTool] = {}
    for owner in owners:
        known = by_tool.get(owner.tool)
        by_tool[owner.tool] = OwningTool(owner.tool, tuple(dict.fromkeys((*(known.paths if known else ()), *owner.paths))))
    yield from by_tool.values()


def _say_notes(done: Done, *, is_undo: bool) -> None:
    name = done.set["metadata"]["name"]
    if done.edit.word == "paused" and done.edit.changes:
        say(f"{done.name}: pods that are deleted or added meanwhile get the new template; to continue: grove rollout resume {name}")
    elif done.edit.changes and done.edit.word != "resumed" and edits.strategy_of(done.set) == edits.ON_DELETE:
        say(f"{done.name}: its updateStrategy is OnDelete, so pods are updated only when they are deleted")
    if note := held_note(done.set, may_fix=is_undo and bool(done.edit.changes)):
        say(f"{done.name}: {note}")
    for tool in dict.fromkeys(done.later):
        say(f"{done.name}: {tool.name} reverts this on its next run, which rolls the pods again")
