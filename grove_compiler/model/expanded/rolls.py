"""Rolls pods or replicas one after the other, without going below the needed number (shipped semantics §7.5).

Pods of a clique and replicas of a scaling group roll the same way. Those that are not ready are replaced at once, serving ones are
selected one by one. The selection is written to a status before anything is deleted, so that a restarted operator continues with it.

The shipped operator counts the selected items and their ready successors. There, a pod that becomes ready late counts for another one that
is still missing, and an edit in between resets the count, so that two are down at once (grove #697). So successors are not counted here:
the next item is replaced when all that can serve do, and as many as did when the last one was selected. That number is in the selection,
and an edit takes it over: a roll whose successors fit nowhere takes one item, however often its template is edited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, NamedTuple

from grove_compiler.graph.node import Manifest
from grove_compiler.record import record


@record
class Roll:
    """A rolling replacement of pods or replicas.

    Of the `desired` number `serving` serve now, and `unplaced` cannot: they are unschedulable, or scaled in. `served` of them did when the
    last one was selected. `outdated` are those that serve with an older template, in the order of their replacement.
    """

    desired: int
    serving: int
    unplaced: int
    min_available: int
    served: int
    outdated: Sequence[Any] = field(repr=False)

    @property
    def possible(self) -> int:
        """How many can serve now. An unschedulable one may need the room of one to be replaced, which must not wait for it in turn.

        Of those that wait, it may be the last successor which does: as many have to serve as did before it was needed.
        """
        return max(self.desired - self.unplaced, self.served)

    @property
    def needed(self) -> int:
        """How many have to serve for one of them to be replaced: all, or so many that `minAvailable` are left.

        So a template that fits nowhere costs no more than one lost pod does, also where one had been lost when it came.
        """
        return min(self.min_available + 1, self.desired)

    @property
    def may_replace_next(self) -> bool:
        """Whether one that serves may be replaced now: only while all that can serve do, and no fewer than `needed` (grove #697, #840)."""
        return self.serving >= max(self.possible, self.needed)


class Selection(NamedTuple):
    """The item selected for replacement last, none at first, how many served then, and all items selected before."""

    current: Any = None
    serving: int = 0
    completed: Sequence[Any] = ()

    def served(self, desired: int) -> int:
        """Returns how many served when the last item was selected: all that are declared where the status does not say.

        The definitions of the shipped operator have no field for it.
        """
        return 0 if self.current is None else min(self.serving or desired, desired)


def selected(progress: Manifest, items: str, *, anew: bool = False) -> Selection:
    """Reads a selection from the field `items` of a recorded progress.

    A roll that begins `anew` while another one was going on takes over what that one has selected last: its successor may be missing.
    """
    old = progress.get(items) or {}
    selection = Selection(old.get("current"), old.get("serving") or 0, old.get("completed") or [])
    return selection._replace(completed=()) if anew else selection


def next_selection(old: Selection, roll: Roll) -> Selection:
    """Returns the selection with the next item, if the last one has been replaced and one more may go; else the same selection."""
    if not roll.outdated or old.current in roll.outdated or not roll.may_replace_next:
        return old
    return Selection(roll.outdated[0], roll.serving, [*old.completed, *([] if old.current is None else [old.current])])
