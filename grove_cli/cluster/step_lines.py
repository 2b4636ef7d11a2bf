"""Formats steps as lines of a table, action, object and reason: a plan by waves, and what the operator that leads sets makes of an edit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from applier.outcome import QUIET, Action, Step
from grove_cli.cluster.input import ClusterInput
from grove_cli.cluster.words import COLOURS, More, folded, reason_of, tally
from grove_cli.terminal import MIN_NAME_WIDTH, Terminal, fitted, visible
from kube_objects.words import listed

WIDEST_ACTION = max(len(action) for action in Action)


def step_lines(steps: Sequence[Step], terminal: Terminal) -> list[str]:
    """Returns a line for each step, with failures folded by reason."""
    column = column_width(steps, terminal)
    return [step_line(one, column, terminal) for one in folded(list(steps), lambda step: step)]


def column_width(steps: Sequence[Step], terminal: Terminal) -> int:
    """Returns the width of the column of names: that of the longest, but at most half of the terminal's."""
    widest = max((len(str(step.ref)) for step in steps), default=0)
    return min(widest, terminal.width // 2) if terminal.wraps else widest


def step_line(step: Step | More, column: int, terminal: Terminal) -> str:
    """Returns action, name and reason of a step, cut to the terminal's width."""
    if isinstance(step, More):
        return f"  and {step.number} more {visible(step.reason)}"
    name = visible(str(step.ref))
    if terminal.wraps:
        name = fitted(name, max(MIN_NAME_WIDTH, column))
    action = terminal.paint(str(step.action), COLOURS.get(step.action, "0")) + " " * (WIDEST_ACTION - len(step.action))
    reason = visible(reason_of(step)) + (" (to be validated by the server)" if step.unsure else "")
    room = terminal.width - WIDEST_ACTION - column - 6
    if terminal.wraps and len(reason) > room:
        reason = fitted(reason, room) if room >= MIN_NAME_WIDTH else ""
    return f"  {action}  {name.ljust(column)}  {reason}".rstrip()


def plan_text(steps: Sequence[Step], terminal: Terminal) -> str:
    """Returns the changes by wave, with failures folded by reason, and the number of objects by action."""
    changes = [step for step in steps if step.action not in QUIET]
    column = column_width(changes, terminal)
    lines = []
    for wave, found in groupby(changes, key=lambda step: step.wave):
        lines.append(terminal.paint(f"wave {wave + 1}", "2"))
        lines += [step_line(one, column, terminal) for one in folded(list(found), lambda step: step)]
    return "\n".join([*lines, *([""] if lines else []), terminal.paint("Plan: ", "1") + by_action(steps)]) + "\n"


def effects_text(source: ClusterInput, terminal: Terminal) -> str:
    """Returns the objects that the operator creates, configures and deletes, under a heading; empty where none leads."""
    if not source.leader:
        return ""
    heading = terminal.paint("effects", "1") + f" by the operator ({source.leader})"
    if source.unread:
        return f"{heading} are not known: you may not read {listed(source.unread)}\n"
    summary = terminal.paint("Effects: ", "1") + by_action(source.effects)
    return "\n".join([f"{heading}; --children includes them", *step_lines(source.effects, terminal), summary]) + "\n"


def effects_line(source: ClusterInput) -> str:
    """Returns one line about what the operator makes of an edit; empty where none leads, or where it makes nothing of it."""
    if not source.effects:
        return ""
    return (
        f"the operator ({source.leader}) generates from this: {by_action(source.effects)} (listed by `grove plan`); --children writes them"
    )


def by_action(steps: Sequence[Step]) -> str:
    """Returns the number of steps by action."""
    return tally(Counter(step.action for step in steps))
