"""Prints the differences of `grove diff` as text: a unified diff for each object, the owners of its fields, and a summary."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from applier.outcome import ABSENT, QUIET, UNDONE, Action, Conflict, FieldChange, Owner, Step, dotted
from applier.plan.reasons import who
from grove_cli.cluster.diff.unified import Shown, unified
from grove_cli.cluster.fold import More, folded
from grove_cli.cluster.words import COLOURS, reason_of, tally
from grove_cli.terminal import Terminal, visible
from kube_objects.words import listed

MAX_FIELDS = 8
DIFFERING = frozenset(Action) - QUIET - {Action.FAILED}


def diff_text(differences: Sequence[Shown], counts: Mapping[Action, int], terminal: Terminal) -> str:
    """Returns the differences of each object, with failures folded by reason, and the summary."""
    blocks = ["\n".join(_block(item, terminal)) for item in folded(differences, lambda shown: shown.step)]
    return "\n\n".join([*blocks, summary(counts, terminal)]) + "\n"


def summary(counts: Mapping[Action, int], terminal: Terminal) -> str:
    """Returns `3 objects differ: 1 created, 2 configured; 1 failed; 997 unchanged`. Whether failed objects differ is unknown."""
    differing = sum(count for action, count in counts.items() if action in DIFFERING)
    words = [_some(counts, DIFFERING), _some(counts, {Action.FAILED}), _some(counts, QUIET)]
    heading = f"{differing} object{'s differ' if differing > 1 else ' differs'}: " if differing else ""
    if not differing and not counts.get(Action.FAILED):
        heading, words[0] = ("No differences: ", "") if words[2] else ("", tally({}))
    return terminal.paint(heading, "1") + "; ".join(filter(None, words))


def _some(counts: Mapping[Action, int], which: Collection[Action]) -> str:
    """Returns the counts of some actions; empty for none."""
    some = {action: count for action, count in counts.items() if action in which}
    return tally(some) if some else ""


def _block(shown: Shown | More, terminal: Terminal) -> Iterator[str]:
    if isinstance(shown, More):
        yield f"and {shown.number} more {visible(shown.reason)}"
    else:
        yield from _object(shown, terminal)


def _object(shown: Shown, terminal: Terminal) -> Iterator[str]:
    step = shown.step
    action = terminal.paint(str(step.action), "1", COLOURS.get(step.action, "0"))
    yield f"{action} {visible(str(step.ref))}" + (f": {visible(reason_of(step))}" if _needs_reason(step) else "")
    for changed_by, fields in drifted(step.changes).items():
        yield terminal.paint(visible(f"  {who(changed_by)} set {listed(fields, MAX_FIELDS)}"), "36")
    for conflict in conflicts(step.conflicts):
        yield terminal.paint(f"  {visible(conflict)}", "31")
    yield from unified(shown.before, shown.after, str(step.ref), terminal)


def drifted(changes: Sequence[FieldChange]) -> dict[Owner, list[str]]:
    """Returns the changed fields by their owners."""
    fields: dict[Owner, list[str]] = {}
    for change in changes:
        if change.old is not ABSENT:
            for owner in change.owners:
                fields.setdefault(owner, []).append(dotted(change.path))
    return fields


def conflicts(found: Sequence[Conflict]) -> Iterator[str]:
    """Yields a line for each field in conflict."""
    for conflict in found:
        yield f"{dotted(conflict.path)} belongs to {who(conflict.owner)}"


def _needs_reason(step: Step) -> bool:
    """Returns whether the reason of a step is printed: not when it only states that fields differ, as the diff shows them."""
    return bool(step.reason) and (step.action in UNDONE or step.action in (Action.RECREATED, Action.PRUNED) or not step.changes)
