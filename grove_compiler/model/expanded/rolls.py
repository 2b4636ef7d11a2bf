"""Rolls pods or replicas one after the other, or as many at a time as `maxUnavailable` says (shipped semantics §7.5).

Pods of a clique and replicas of a scaling group roll the same way. Those that are not ready are replaced at once, serving ones are
selected one by one. The selection is written to a status before anything is deleted, so that a restarted operator continues with it.

The shipped operator counts the selected items and their ready successors. There, a pod that becomes ready late counts for another one that
is still missing, and an edit in between resets the count, so that two are down at once (grove #697). So successors are not counted here:
the next item is replaced when all that can serve do, and as many as did when the last one was selected. That number is in the selection,
and an edit takes it over: a roll whose successors fit nowhere takes one item, however often its template is edited.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar, NamedTuple

from grove_compiler.graph.node import Manifest
from grove_compiler.model.expanded.live_object import old_status
from grove_compiler.model.expanded.set_update import is_over_out_of_turn, replica_is_updating
from grove_compiler.model.expanded.structure import Clique, ScalingGroup
from grove_compiler.model.lazy import lazy
from grove_compiler.model.spec.templates import CliqueTemplate, ScalingGroupTemplate
from grove_compiler.record import record

GENERATION_HASH = "podCliqueSetGenerationHash"
CURRENT = {"podTemplateHash": "currentPodTemplateHash", GENERATION_HASH: "currentPodCliqueSetGenerationHash"}
"""The field of a status that tells which templates all pods have, by the one of its `updateProgress` that tells which they get."""


@record
class Roll:
    """A rolling replacement of pods or replicas.

    Of the `desired` number `serving` serve now, and `unplaced` cannot: they are unschedulable, or scaled in. `served` of them did when the
    last one was selected while none was missing. `outdated` are those that serve with an older template, in the order of their replacement;
    `at_a_time` of them may be missing at once.
    """

    desired: int
    serving: int
    unplaced: int
    min_available: int
    served: int
    outdated: Sequence[Any] = field(repr=False)
    at_a_time: int = 1

    @property
    def possible(self) -> int:
        """How many can serve now. An unschedulable one may need the room of one to be replaced, which must not wait for it in turn.

        Of those that wait, it may be the last successor which does: as many have to serve as did before it was needed.
        """
        return max(self.desired - self.unplaced, self.served)

    @property
    def needed(self) -> int:
        """How many have to serve for one of them to be replaced: so many that `minAvailable` are left, or all but what may be missing.

        So a template that fits nowhere costs no more than what is replaced at a time, also where as many had been lost when it came.
        """
        return min(self.min_available, self.desired - self.at_a_time) + 1

    @property
    def may_replace_next(self) -> bool:
        """Whether one that serves may be replaced now: only while all that can serve do, and no fewer than `needed` (grove #697, #840).

        All but those that were replaced a moment ago, where several may be at a time.
        """
        return self.serving >= max(self.possible - self.at_a_time + 1, self.needed)


class Selection(NamedTuple):
    """The item selected for replacement last, none at first, how many served before it or another went, and all items selected before."""

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
    return Selection(roll.outdated[0], max(roll.serving, roll.served), [*old.completed, *([] if old.current is None else [old.current])])


def declared_template(part: Clique | ScalingGroup) -> CliqueTemplate | ScalingGroupTemplate:
    """Returns what the set declares of a PodClique or scaling group now, whatever template its pods have meanwhile."""
    return part.declared if isinstance(part, Clique) else part.template


@record(slots=False)
class PartRoll(ABC):
    """The update of a PodClique or a scaling group: what its `updateProgress` should be, given what it is (`old`)."""

    part: Clique | ScalingGroup = field(repr=False)
    old: Manifest = field(repr=False)

    _selected_items: ClassVar[str]

    @property
    def at_a_time(self) -> int:
        """How many of its pods or replicas may be replaced at a time."""
        return declared_template(self.part).max_unavailable or 1

    @lazy
    def is_active(self) -> bool:
        """Whether its replica of the set is the one being updated, by a rolling update; false for a clique of a scaling group."""
        is_part_of_replica = isinstance(self.part, ScalingGroup) or self.part.member is None
        return self.part.set.is_rolled and is_part_of_replica and replica_is_updating(self.part.replica)

    @lazy
    def is_old(self) -> bool:
        """Whether the recorded progress is that of an update to an earlier generation."""
        return any(self.old.get(name) != template_hash for name, template_hash in self._newest.items())

    @lazy
    def starts(self) -> bool:
        """Whether its update begins now; counts of an earlier one are dropped (grove #400)."""
        if not self.part.set.is_rolled:
            return self.is_old
        return self.is_active and (self.is_old or (bool(self.old.get("updateEndedAt")) and bool(self._outdated)))

    @lazy
    def is_over(self) -> bool:
        """Whether nothing is left to replace; always true for `OnDelete`, where pods are replaced by hand."""
        if not self.is_active:
            return is_over_out_of_turn(self.part.set, self.old)
        return not self._is_behind and self._is_whole

    @lazy
    def keeps_selection(self) -> bool:
        """Whether the status names the selected item: until all are replaced, also by hand: else each pause would cost one more."""
        return self.selection.current is not None and (not self.is_over or self._is_behind)

    @lazy
    def old_hashes(self) -> Manifest:
        """The recorded hashes of the templates that all pods have, without those known to be wrong.

        Otherwise a reverted edit would look as if all pods were up to date, although some have the template in between.
        """
        status = old_status(self.part)
        wrong = {CURRENT[name]: template_hash for name, template_hash in self._newest.items()} if self._is_behind else {}
        return {name: status[name] for name in map(CURRENT.__getitem__, self._newest) if status.get(name) not in (None, wrong.get(name))}

    @lazy
    def selection(self) -> Selection:
        """The items selected for replacement, pods or the indices of replicas, with the next one if it may be replaced now."""
        return next_selection(self._selected, self.roll) if self.is_active else self._selected

    @lazy
    def _selected(self) -> Selection:
        """The recorded selection."""
        return selected(self.old, self._selected_items, anew=self.starts)

    @lazy
    def _newest(self) -> dict[str, str]:
        """The hashes of the newest templates, by their names in `updateProgress`."""
        return {GENERATION_HASH: self.part.set.generation_hash}

    @lazy
    def _is_behind(self) -> bool:
        """Whether a pod or a PodClique has an older template."""
        return bool(self._outdated)

    @lazy
    @abstractmethod
    def roll(self) -> Roll:
        """Its pods or replicas as a `Roll`."""

    @lazy
    @abstractmethod
    def _outdated(self) -> Sequence[Any]:
        """Its pods or replicas of older templates."""

    @lazy
    @abstractmethod
    def _is_whole(self) -> bool:
        """Whether all its declared pods are ready."""
