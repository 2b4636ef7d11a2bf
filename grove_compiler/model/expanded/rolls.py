"""One after the other: how what serves is replaced without taking away what is needed (shipped semantics §7.5).

Pods of a clique and replicas of a scaling group go the same way. What serves nobody is replaced at once. Of what serves, one is selected
after the other. The selection stands in a status before anything is deleted, so that who starts anew goes on with it.

The shipped operator counts how many it has selected and how many are ready in their place. A pod that was not ready to begin with, and
is by now, counts there for one that is still missing, and an edit in between leaves nothing to count by: two are down then (grove #697).
So nothing is counted here. The next one goes when all serve that can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from grove_compiler.graph.node import Manifest
from grove_compiler.record import record


@record
class Roll:
    """Pods or replicas that are replaced one after the other.

    `serving` of them serve now, of the `wanted` ones; for `unplaced` ones their scheduler finds no room. `behind` are those that serve
    and are of an older template, in the order in which they go.
    """

    wanted: int
    serving: int
    unplaced: int
    min_available: int
    behind: Sequence[Any] = field(repr=False)

    @property
    def possible(self) -> int:
        """How many could serve at best. What has no room may wait for what is to be replaced, so that this may not wait for it."""
        return self.wanted - self.unplaced


def one_more_may_go(roll: Roll) -> bool:
    """Decides whether one of those that serve may be replaced now."""
    raise NotImplementedError


class Selection(NamedTuple):
    """What was selected last, none while nothing was, and all that was before."""

    current: Any = None
    completed: Sequence[Any] = ()


def selected(old: Manifest) -> Selection:
    """Reads a selection as statuses have it."""
    return Selection(old.get("current"), old.get("completed") or [])


def next_selection(old: Selection, roll: Roll, may_go: Callable[[Roll], bool]) -> Selection:
    """Returns the selection with one more, if the last one is gone and one more may go; else the same."""
    if not roll.behind or old.current in roll.behind or not may_go(roll):
        return old
    return Selection(roll.behind[0], [*old.completed, *([] if old.current is None else [old.current])])
