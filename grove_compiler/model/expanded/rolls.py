"""Rolls pods or replicas one after the other, without going below the needed number (shipped semantics §7.5).

Pods of a clique and replicas of a scaling group roll the same way. Those that are not ready are replaced at once, serving ones are
selected one by one. The selection is written to a status before anything is deleted, so that a restarted operator continues with it.

The shipped operator counts the selected items and their ready successors. There, a pod that becomes ready late counts for another one that
is still missing, and an edit in between resets the count, so that two are down at once (grove #697). So nothing is counted here: the next
item is replaced when all that can serve do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from grove_compiler.graph.node import Manifest
from grove_compiler.record import record


@record
class Roll:
    """A rolling replacement of pods or replicas.

    Of the `desired` number `serving` serve now, and `unplaced` are unschedulable. `outdated` are those that serve with an older template,
    in the order of their replacement.
    """

    desired: int
    serving: int
    unplaced: int
    min_available: int
    outdated: Sequence[Any] = field(repr=False)

    @property
    def possible(self) -> int:
        """How many can serve now. An unschedulable one may need the room of one to be replaced, which must not wait for it in turn."""
        return self.desired - self.unplaced

    @property
    def needed(self) -> int:
        """How many have to serve at the end of the update: `minAvailable`, or the desired number if that is lower."""
        return min(self.min_available, self.desired)


def may_replace_next(roll: Roll) -> bool:
    """Decides whether a serving pod or replica may be replaced now."""
    raise NotImplementedError


class Selection(NamedTuple):
    """The item selected for replacement last, none at first, and all those selected before."""

    current: Any = None
    completed: Sequence[Any] = ()


def selected(old: Manifest) -> Selection:
    """Reads a selection from a status."""
    return Selection(old.get("current"), old.get("completed") or [])


def next_selection(old: Selection, roll: Roll, may_go: Callable[[Roll], bool]) -> Selection:
    """Returns the selection with the next item, if the last one has been replaced and one more may go; else the same selection."""
    if not roll.outdated or old.current in roll.outdated or not may_go(roll):
        return old
    return Selection(roll.outdated[0], [*old.completed, *([] if old.current is None else [old.current])])
