"""Opens a recorded set for a run: decides which members to delete, and maintains the record around the writes of an apply.

    opened = await OpenApplySet.open(options, graph, cluster)   # reads, and decides what to delete
    await opened.widen()                                        # before the first write of the apply
    outcomes = ...                                              # of applying opened.graph, the graph with the set's label
    outcomes += await opened.finish(outcomes, Deleter(cluster))   # deletes, then makes the record exact

Nothing is deleted unless the whole apply succeeded. If more is to be deleted than the budget allows, nothing is without approval.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from applier.cluster import Cluster
from applier.desired import Graph
from applier.errors import ApplierError
from applier.events import Finished, Sink
from applier.outcome import UNDONE, Action, Outcome, Step
from applier.plan.membership import set_of
from applier.plan.saved import InvalidPlan, SavedPlan, why_moved
from applier.prune.applyset import ApplySet, ApplySetError, ApplySetScope, Record
from applier.prune.deletion import Deleter, finalizers_of, last, still_needed, teardown
from applier.prune.keeper import Keeper
from applier.prune.members import NOTHING, Members, TakenAlong, dependents, find_members, orphans, taken_along, takes_others
from applier.ref import NAMESPACE, Kind, Manifest, Ref, being_deleted, uid_of
from kube_objects.manifest import is_terminating
from kube_objects.words import listed

MIN_APPROVAL = 12  # hex digits of a hash that are enough to approve
Json = dict[str, Any]


class Budget(NamedTuple):
    """Represents a limit of deletions: a number of objects, or a percentage of the members, rounded down."""

    number: float
    percent: bool = False

    @classmethod
    def read(cls, text: str) -> Budget:
        """Reads `10` or `5%`. Raises `ApplierError`."""
        match = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", text.strip())
        if not match or float(match[2] or 0) > 100:
            raise ApplierError(
                f"{text!r} is not a limit for pruning: specify a number of objects such as 10, or a percentage of the ApplySet such as 5%"
            )
        return cls(int(match[1])) if match[1] else cls(float(match[2]), True)

    def allows(self, deletes: int, members: int) -> bool:
        """Reports whether one run may delete this many of the set's members."""
        return deletes <= (self.number * members // 100 if self.percent else self.number)

    def __str__(self) -> str:
        """Returns the text that `read` parses."""
        return f"{self.number:g}%" if self.percent else f"{self.number:g}"


def approval_hash(uids: Iterable[str]) -> str:
    """Returns the SHA-256, as hex, of exactly these objects: their UIDs in order, a line each. Any other set of objects has another."""
    return hashlib.sha256("".join(f"{uid}\n" for uid in sorted(uids)).encode()).hexdigest()


def approves(approval: str, expected: str) -> bool:
    """Reports whether `approval` is the hash `expected`, or at least its first `MIN_APPROVAL` digits."""
    return len(approval) >= MIN_APPROVAL and expected.startswith(approval.lower())


@dataclass(frozen=True, slots=True, eq=False)
class ApplySetOptions:
    """Holds the options of a recorded set; with `prune`, members that are no longer in the graph are deleted.

    More than `budget` are deleted only with the `approval` hash that an earlier run has reported. Members that belong to an object of
    `led`, by owner references, are left to the controller that leads it.
    """

    applyset: ApplySet
    prune: bool = True
    budget: Budget | None = None
    approval: str = ""
    led: Collection[Ref] = ()


class OpenApplySet:
    """Represents a set as read by one run.

    `graph` is the graph with the set's label, to be applied. `steps` are the decisions about members that are no longer desired, in the
    order of deletion: PRUNED, or HELD with the reason; empty without `prune`. `approval` is the hash that approves deletes that are held
    for exceeding the budget, or because they would delete objects of others; empty when none is needed.
    """

    def __init__(
        self, options: ApplySetOptions, keeper: Keeper, graph: Graph, members: Members, unwanted: list[Manifest], *, whole: bool
    ) -> None:
        self.options, self.keeper, self.graph, self.members, self.whole = options, keeper, graph, members, whole
        self.live = {Ref.of(one): one for one in unwanted}
        self.order = teardown(unwanted)
        home = Ref(*NAMESPACE, "", options.applyset.namespace)
        if whole and home in self.live:
            self.order = last(self.order, home)
        self.taken = NOTHING
        self.approval = ""
        self.steps: list[Step] = []

    @classmethod
    async def open(cls, options: ApplySetOptions, graph: Graph, cluster: Cluster, *, whole: bool = False) -> OpenApplySet:
        """Reads the set and decides what to delete. With `whole`, the whole set and its record are to be deleted.

        Raises `ApplySetError` when it cannot be used, or when its members cannot be listed.
        """
        applyset = options.applyset
        keeper = await Keeper.open(applyset, cluster)
        members = await find_members(applyset, keeper.before, cluster)
        unwanted = orphans(members.objects, applyset.parent, graph.objects)
        if options.led:
            led = dependents(members.objects, options.led)
            unwanted = [member for member in unwanted if Ref.of(member) not in led]
        opened = cls(options, keeper, applyset.label(graph), members, unwanted, whole=whole)
        if options.prune:
            await opened._decide()
        return opened

    @classmethod
    async def open_saved(cls, saved: SavedPlan, cluster: Cluster) -> OpenApplySet:
        """Reads the current state of a saved plan's set. Raises `InvalidPlan`, and what `open` raises."""
        form = saved.applyset
        try:
            group, version, kind, namespace, name = form["parent"]
            parent = (Kind(group, version, kind), namespace, name)
            options = ApplySetOptions(ApplySet(*parent, form["tooling"]), form["prune"], approval=form["approval"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidPlan(f"not a complete saved plan: {type(error).__name__}: {error}") from None
        return await cls.open(options, saved.graph, cluster)

    async def _decide(self) -> None:
        """Decides about each unwanted member, and whether deleting needs approval."""
        applyset, budget = self.options.applyset, self.options.budget
        desired = list(self.graph.objects) if self.whole else [*self.graph.objects, applyset.parent]
        self.steps = [_step(self.live[ref], number, desired) for number, wave in enumerate(self.order.waves) for ref in wave]
        going = [step for step in self.steps if step.action is Action.PRUNED and not is_terminating(self.live[step.ref])]
        takers = [self.live[step.ref] for step in going if takes_others(step.ref)]
        self.taken = await self._taken_along(takers)
        members, deletes = len(self.members.objects), len(going) + len(self.taken.objects)
        over = budget is not None and not budget.allows(deletes, members)
        required_approval = approval_hash([*(step.uid for step in going), *self.taken.identities()])
        if not (over or self.taken) or approves(self.options.approval, required_approval):
            return
        # All are held, not only those that would delete others with them, so that an approval covers exactly what a run then deletes.
        self.approval = required_approval
        reason = f"{len(going)} of {members} members would be deleted"
        if self.taken:
            reason += f", and with {listed(str(Ref.of(taker)) for taker in takers)} {self.taken}"
        reason += f", more than the limit of {budget}" if over else ""
        for step in going:
            step.action, step.reason = Action.HELD, f"{reason}; approve with {required_approval}"

    async def _taken_along(self, takers: list[Manifest]) -> TakenAlong:
        ours = {uid_of(member) for member in self.members.objects} | {self.keeper.record.uid}
        return await taken_along(takers, self.keeper.cluster, ours)

    async def _check_taken(self, step: Step, live: Manifest) -> None:
        """Raises `ApplySetError` when a delete would also delete new objects that no approval covers: the apply may have taken minutes."""
        if takes_others(step.ref):
            now = await self._taken_along([live])
            new = {uid: ref for uid, ref in now.objects.items() if uid not in self.taken.seen}
            if new:
                raise ApplySetError(f"not deleted: {now._replace(objects=new)} would be deleted with it, which appeared since it was read")

    @property
    def is_new(self) -> bool:
        """Reports whether the set has no record yet."""
        return not self.keeper.record.resource_version

    def form(self) -> Json:
        """Returns the set and the state of its record as JSON, for a saved plan."""
        applyset = self.options.applyset
        return {
            "parent": [*applyset.kind, applyset.namespace, applyset.name],
            "tooling": applyset.tooling,
            "prune": self.options.prune,
            "approval": self.options.approval,
            "record": _record_form(self.keeper.record),
        }

    def why_moved(self, saved: SavedPlan) -> list[str]:
        """Returns every reason why the set differs from the state that a plan was made for; empty when it does not."""
        reasons = []
        if _record_form(self.keeper.record) != saved.applyset["record"]:
            reasons.append(f"the record of the ApplySet, {self.options.applyset.parent}, has changed")
        if not self.options.prune:
            return reasons
        planned = {step.ref: step for step in saved.prunes()}
        for ref, step in planned.items():
            live = self.live.get(ref)
            why = why_moved(step, live, saved.prints[ref]) if live is not None else ["is gone, or no longer a member of the ApplySet"]
            reasons += [f"{ref} {one}" for one in why]
        if self.approval and any(step.action is Action.PRUNED for step in planned.values()):
            reasons.append(next(step.reason for step in self.steps if step.action is Action.HELD))
        new = [step.ref for step in self.steps if step.ref not in planned]
        return reasons + [f"{ref} is a member of the ApplySet that the plan does not contain" for ref in new]

    def hold(self, saved: SavedPlan) -> None:
        """Holds the steps that the saved plan holds, with its reasons, so that nothing else is deleted."""
        planned = {step.ref: step for step in saved.prunes()}
        for step in self.steps:
            if planned[step.ref].action is not Action.PRUNED:
                step.action, step.reason = planned[step.ref].action, planned[step.ref].reason

    async def widen(self) -> None:
        """Adds the scope of the graph to the record. Must be called before anything of the graph is written."""
        await self.keeper.widen(ApplySetScope.of(self.graph.objects))

    async def finish(self, outcomes: Collection[Outcome], deletion: Deleter) -> list[Outcome]:
        """Carries out the steps with `deletion`, and makes the record exact. `outcomes` are those of applying the whole graph.

        If the record cannot be written in the end, that is an outcome of the parent; it then names too much until the next run.
        """
        undone = Counter(outcome.action for outcome in outcomes if outcome.action in UNDONE)
        if undone:
            return self._held(undone, deletion.sink)
        # An object may be served under two kinds (Events are, in two groups). What this run has applied as one is spared as the other.
        uids = {outcome.uid or outcome.step.uid for outcome in outcomes}
        applyset = self.keeper.applyset
        members = replace(
            deletion, still_meant=lambda live: set_of(live) == applyset.id, labels=applyset.selector, before=self._check_taken
        )
        pruned = await members.run([step for step in self.steps if step.uid not in uids], self.live, self.order)
        if deletion.dry_run or (self.whole and not any(outcome.action in UNDONE for outcome in pruned)):
            return pruned  # the record of a deleted set is deleted as well, and need not be exact before
        return pruned + await self._narrowed(self._scope(pruned), deletion.sink)

    async def _narrowed(self, scope: ApplySetScope, sink: Sink) -> list[Outcome]:
        """Makes the record exact; returns the outcome of the parent if that failed."""
        try:
            await self.keeper.narrow(scope)
        except ApplierError as error:
            step = Step(self.keeper.applyset.parent, Action.CONFIGURED, "names where members are", uid=self.keeper.record.uid)
            outcome = Outcome(step, Action.FAILED, f"the record of the ApplySet could not be written: {error}", step.uid, error=error)
            sink(Finished(outcome))
            return [outcome]
        return []

    def _held(self, undone: Counter[Action], sink: Sink) -> list[Outcome]:
        number = " and ".join(f"{count} {action}" for action, count in sorted(undone.items()))
        held = [
            Outcome(step, Action.HELD, f"of the ApplySet, {number}: nothing is pruned before everything is applied", step.uid)
            for step in self.steps
        ]
        for outcome in held:
            sink(Finished(outcome))
        return held

    def _scope(self, pruned: list[Outcome]) -> ApplySetScope:
        """Returns the scope of the members that exist now: of the graph, not deleted, and of unserved kinds."""
        left = [outcome.step.ref for outcome in pruned if outcome.action in UNDONE]
        return ApplySetScope.of([*self.graph.objects, *left]) | self._out_of_reach()

    def _out_of_reach(self) -> ApplySetScope:
        unserved = self.members.unserved
        return ApplySetScope(unserved, self.keeper.before.namespaces) if unserved else ApplySetScope()


def _record_form(record: Record) -> Json:
    """Returns the content of a record as JSON, without the version of its object, which others may write to."""
    return {
        "uid": record.uid,
        "tooling": record.tooling,
        "kinds": sorted([group, kind] for group, kind in record.scope.kinds),
        "namespaces": sorted(record.scope.namespaces),
        "resources": sorted(record.resources),
    }


def _step(live: Manifest, wave: int, desired: list[Ref]) -> Step:
    step = Step.deletion(live, "is no longer in the ApplySet", wave)
    waits = f"; waits for {', '.join(finalizers)}" if (finalizers := finalizers_of(live)) else ""
    if is_terminating(live):
        step.reason = being_deleted(live)
    elif needed := still_needed(live, desired):
        step.action, step.reason = Action.HELD, f"would take {needed[0]} with it{f' and {len(needed) - 1} more' if needed[1:] else ''}"
    else:
        step.reason += waits
    return step
