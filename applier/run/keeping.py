"""A graph that is kept as a recorded set: what that means for one run, and for a plan that is kept for later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from applier.cluster import Cluster
from applier.desired import Graph
from applier.outcome import Action, Step
from applier.plan.saved import BadPlan, SavedPlan, why_moved
from applier.ref import Kind

if TYPE_CHECKING:
    from applier.prune import ApplySet, Budget, Pruning
    from applier.prune.record import Record

Json = dict[str, Any]


@dataclass(slots=True, eq=False)
class KeepSet:
    """The graph is kept as a recorded set (`ApplySet`); with `prune`, members that are no longer in the graph are deleted.

    More than `budget` are deleted only with the `approval` that the report of an earlier run names.
    """

    applyset: ApplySet
    prune: bool = True
    budget: Budget | None = None
    approval: str = ""


class Kept(NamedTuple):
    """A set as one run found it."""

    keep: KeepSet
    pruning: Pruning

    @property
    def prunes(self) -> list[Step]:
        """What is to become of members that are no longer wanted, in the order of deletion."""
        return self.pruning.steps if self.keep.prune else []

    @property
    def approval(self) -> str:
        """The hash that approves the deletes that are held for being too many; empty when there are none."""
        return self.pruning.approval if self.keep.prune else ""

    @property
    def is_new(self) -> bool:
        """Whether there is no record yet."""
        return not self.pruning.keeper.record.resource_version

    def form(self) -> Json:
        """The set and the state of its record as JSON, for a saved plan."""
        applyset = self.keep.applyset
        return {
            "parent": [*applyset.kind, applyset.namespace, applyset.name],
            "tooling": applyset.tooling,
            "shares": list(applyset.shares),
            "takesOver": applyset.takes_over,
            "prune": self.keep.prune,
            "record": _record_form(self.pruning.keeper.record),
        }

    def why_moved(self, saved: SavedPlan) -> list[str]:
        """Every reason why the set is not what a plan was decided on, none when it is."""
        reasons = []
        if _record_form(self.pruning.keeper.record) != saved.kept["record"]:
            reasons.append(f"the record of the set, {self.keep.applyset.parent}, has changed")
        if not self.keep.prune:
            return reasons
        planned = {step.ref: step for step in saved.prunes()}
        for ref, step in planned.items():
            live = self.pruning.live.get(ref)
            said = why_moved(step, live, saved.prints[ref]) if live is not None else ["is gone, or no member of the set any more"]
            reasons += [f"{ref} {why}" for why in said]
        new = [step.ref for step in self.pruning.steps if step.ref not in planned]
        return reasons + [f"{ref} is a member of the set that the plan does not know" for ref in new]

    def hold(self, saved: SavedPlan) -> None:
        """Holds what the plan holds, for its reasons: nothing is deleted that was not to be."""
        planned = {step.ref: step for step in saved.prunes()}
        for step in self.pruning.steps:
            if planned[step.ref].action is not Action.PRUNED:
                step.action, step.reason = planned[step.ref].action, planned[step.ref].reason


async def open_set(keep: KeepSet, graph: Graph, cluster: Cluster) -> Kept:
    """Reads the set and decides what is to go. Raises `ApplySetError` when it cannot be used or its members cannot be listed."""
    from applier.prune import Pruning  # only for sets

    return Kept(keep, await Pruning.of(keep.applyset, graph, cluster, budget=keep.budget, approval=keep.approval))


async def open_saved(saved: SavedPlan, cluster: Cluster) -> Kept:
    """Reads the set of a saved plan as it is now. Raises `BadPlan`, and what `open_set` does."""
    from applier.prune import ApplySet

    form = saved.kept
    try:
        group, version, kind, namespace, name = form["parent"]
        parent = (Kind(group, version, kind), namespace, name)
        keep = KeepSet(ApplySet(*parent, form["tooling"], tuple(form["shares"]), form["takesOver"]), form["prune"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadPlan(f"not a whole saved plan: {type(error).__name__}: {error}") from None
    return await open_set(keep, saved.graph, cluster)


def _record_form(record: Record) -> Json:
    """What a record says, whoever else writes to its object meanwhile."""
    return {
        "uid": record.uid,
        "tooling": record.written_by,
        "kinds": sorted([group, kind] for group, kind in record.scope.kinds),
        "namespaces": sorted(record.scope.namespaces),
        "resources": sorted(record.resources),
    }
