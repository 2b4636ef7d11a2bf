"""Prints a plan as a table of actions, objects and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from applier.outcome import QUIET, Action, Step
from grove_operator.cli.cluster.fold import More, folded
from grove_operator.cli.cluster.words import COLOURS, reason_of, tally
from grove_operator.render.as_tree import SHORTEST, shortened
from grove_operator.terminal import Terminal, visible

WIDEST_ACTION = max(len(action) for action in Action)


def plan_text(steps: Sequence[Step], terminal: Terminal) -> str:
    """Returns the changes by wave, with failures folded by reason, and the number of objects by action."""
    changes = [step for step in steps if step.action not in QUIET]
    widest = max((len(str(step.ref)) for step in changes), default=0)
    column = min(widest, terminal.width // 2) if terminal.wraps else widest
    lines = []
    for wave, found in groupby(changes, key=lambda step: step.wave):
        lines.append(terminal.paint(f"wave {wave + 1}", "2"))
        lines += [_line(one, column, terminal) for one in folded(list(found), lambda step: step)]
    counts = {action: sum(step.action is action for step in steps) for action in Action}
    return "\n".join([*lines, *([""] if lines else []), terminal.paint("Plan: ", "1") + tally(counts)]) + "\n"


def _line(step: Step | More, column: int, terminal: Terminal) -> str:
    if isinstance(step, More):
        return f"  and {step.number} more {visible(step.reason)}"
    name = visible(str(step.ref))
    if terminal.wraps:
        name = shortened(name, max(SHORTEST, column))
    action = terminal.paint(str(step.action), COLOURS.get(step.action, "0")) + " " * (WIDEST_ACTION - len(step.action))
    reason = visible(reason_of(step)) + (" (the server will be asked)" if step.unsure else "")
    room = terminal.width - WIDEST_ACTION - column - 6
    if terminal.wraps and len(reason) > room:
        reason = shortened(reason, room) if room >= SHORTEST else ""
    return f"  {action}  {name.ljust(column)}  {reason}".rstrip()
