"""Formats the result of `grove impact` as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grove_cli.terminal import Terminal, visible
from grove_compiler.graph.field_path import ABSENT, render
from grove_compiler.impact.account import account
from grove_compiler.impact.fate import ON_DELETE, Fate
from grove_compiler.impact.impact import EditImpact, Impact, SetImpact
from grove_compiler.impact.pods import ReplicaRestart
from grove_operator.impact_words import amounts, consequence, devices, devices_each, gangs, indices, number, objects, pace, runs_alike
from grove_operator.wording import short_value

MAX_FIELDS = 6
MAX_SHAPES = 20
MAX_VALUE_LENGTH = 60
NO_EFFECT = "no effect on existing objects"


def impact_text(result: Impact, terminal: Terminal) -> str:
    """Yields the lines of each set and edit; empty if nothing is known."""
    if not result.is_known:
        return ""
    if not result.causes and not result.sets:
        return "Nothing changes.\n"
    sections = ["\n".join(_set(each, terminal)) for each in result.sets] or ["No object changes."]
    causes = ["\n".join(_causes(result.causes, terminal))] if result.causes else []
    return "\n\n".join([*sections, *causes]) + "\n"


def _set(impact: SetImpact, terminal: Terminal) -> Iterator[str]:
    namespace, name = impact.place
    heading = f"PodCliqueSet {namespace}/{name}, {impact.strategy}" if impact.strategy else f"PodCliqueSet {namespace}/{name}, deleted"
    yield terminal.paint(visible(heading if name else "Objects that belong to no set"), "1")
    rows = list(_rows(impact))
    width = max(len(label) for label, _ in rows)
    for label, text in rows:
        yield f"  {label.ljust(width)}  {visible(text)}"
    for lines in (_differences(impact.fates), _restarts(impact)):
        yield from lines


def _rows(impact: SetImpact) -> Iterator[tuple[str, str]]:
    before, after = impact.hashes
    if before and after:
        yield "generation", f"{before} -> {after}" if before != after else f"{after}, unchanged"
    totals = account([impact])
    yield from objects(totals)
    yield "pods", amounts(totals.pods) or "none restarted, created or deleted"
    yield from devices(totals)
    if touched := gangs(totals):
        yield "gangs", touched


def _differences(fates: Sequence[Fate]) -> Iterator[str]:
    """Yields the changed fields of updated objects; equal changes are counted."""
    groups: dict[tuple[Any, ...], list[Fate]] = {}
    for fate in fates:
        if fate.what in ("changed", "replaced", "left"):
            groups.setdefault((fate.what, fate.kind, tuple(fate.fields), fate.reason, tuple(fate.kept)), []).append(fate)
    for (what, kind, fields, reason, kept), alike in groups.items():
        name = alike[0].node.object["metadata"]["name"]
        more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
        yield ""
        yield visible(f"  {what}: {kind} {name}{more}")
        yield from (f"    {visible(path)}" for path in fields[:MAX_FIELDS])
        if len(fields) > MAX_FIELDS:
            yield f"    and {number(len(fields) - MAX_FIELDS, 'field')} more"
        if kept:
            yield visible(f"    unchanged: {', '.join(kept)}")
        if reason:
            yield f"    {reason}"


def _restarts(impact: SetImpact) -> Iterator[str]:
    before, after = impact.hashes
    if impact.strategy == ON_DELETE and before and after and before != after:
        yield ""
        yield "  restarts: none (OnDelete); a deleted pod is recreated from the new template"
    if not impact.pods.restarts:
        return
    yield ""
    yield "  restarts, one replica of the set after the other, the parts of a replica concurrently:"
    runs = list(runs_alike(impact.pods.restarts))
    for run in runs[:MAX_SHAPES]:
        yield f"    replica {run[0].index}"
        yield from (f"      {visible(line)}" for line in _steps(run[0]))
        if len(run) > 1:
            last = f" to {run[-1].index}" if len(run) > 2 else ""
            yield f"    then {number(len(run) - 1, 'replica')} alike: {run[1].index}{last}"
    if len(runs) > MAX_SHAPES:
        yield f"    and more, down to replica {runs[-1][-1].index}"


def _steps(replica: ReplicaRestart) -> Iterator[str]:
    for clique in replica.cliques:
        pods = f"{number(clique.pods, 'pod')}{devices_each(clique)}"
        yield f"clique {clique.name}: {pods}, {pace(clique.name, replica)}, each deleted before it is recreated"
    for name, parts in replica.groups.items():
        yield f"scaling group {name}: {indices(name, replica)}, the pods of each deleted and recreated as a whole"
        first = next(iter(parts.values()))
        yield from (f"  clique {clique.name}: {number(clique.pods, 'pod')}{devices_each(clique)}" for clique in first)


def _causes(causes: Sequence[EditImpact], terminal: Terminal) -> Iterator[str]:
    yield terminal.paint("Because of", "1")
    for cause in causes:
        edit = cause.edit
        place = f"{edit.file}:{edit.line}" if edit.line else edit.file
        path = render(edit.change.path)
        yield visible(f"  {place}  {edit.subject}{' ' + path if path else ''}")
        yield visible(f"    {_change(cause)}")
        effect = cause.reason if cause.alone is None else consequence(account(cause.alone)) or NO_EFFECT
        yield visible(f"    {effect}")


def _change(cause: EditImpact) -> str:
    change = cause.edit.change
    if not change.path:
        return "added" if change.before is ABSENT else "removed"
    if change.before is ABSENT:
        return f"added: {short_value(change.after, MAX_VALUE_LENGTH)}"
    before = short_value(change.before, MAX_VALUE_LENGTH)
    return f"was {before}, removed" if change.after is ABSENT else f"{before} -> {short_value(change.after, MAX_VALUE_LENGTH)}"
