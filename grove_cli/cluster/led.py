"""Tells of sets that an operator leads: what it makes of an edit, which is not written from here."""

from __future__ import annotations

from collections.abc import Sequence

from applier.outcome import Action, Step
from grove_cli.cluster.input import ClusterInput
from grove_cli.cluster.words import tally
from grove_cli.terminal import Terminal


def effects_text(source: ClusterInput, terminal: Terminal) -> str:
    """Returns the objects that the operator creates, configures and deletes, under a heading; empty where none leads."""
    if not source.leader:
        return ""
    from grove_cli.cluster.step_lines import step_lines

    heading = terminal.paint("effects", "1") + f" by the operator ({source.leader}); --children includes them"
    summary = terminal.paint("Effects: ", "1") + counted(source.effects)
    return "\n".join([heading, *step_lines(source.effects, terminal), summary]) + "\n"


def effects_line(source: ClusterInput) -> str:
    """Returns one line about what the operator makes of an edit; empty where none leads, or where it makes nothing of it."""
    if not source.effects:
        return ""
    return f"the operator ({source.leader}) generates from this: {counted(source.effects)} (listed by `grove plan`); --children writes them"


def counted(steps: Sequence[Step]) -> str:
    """Returns the number of steps by action."""
    return tally({action: sum(step.action is action for step in steps) for action in Action})
