"""Prints a plan as a table of actions, objects and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from applier.outcome import QUIET, Action, Step
from grove_cli.cluster.fold import folded
from grove_cli.cluster.step_lines import column_width, step_line
from grove_cli.cluster.words import tally
from grove_cli.terminal import Terminal


def plan_text(steps: Sequence[Step], terminal: Terminal) -> str:
    """Returns the changes by wave, with failures folded by reason, and the number of objects by action."""
    changes = [step for step in steps if step.action not in QUIET]
    column = column_width(changes, terminal)
    lines = []
    for wave, found in groupby(changes, key=lambda step: step.wave):
        lines.append(terminal.paint(f"wave {wave + 1}", "2"))
        lines += [step_line(one, column, terminal) for one in folded(list(found), lambda step: step)]
    counts = {action: sum(step.action is action for step in steps) for action in Action}
    return "\n".join([*lines, *([""] if lines else []), terminal.paint("Plan: ", "1") + tally(counts)]) + "\n"
