"""Plans and executes `grove delete`: the objects of the files, and the compiled objects that we created from them."""

from __future__ import annotations

import time
from typing import NamedTuple

from applier.cache import read_once
from applier.cluster import Cluster
from applier.decision.managers import applied_by
from applier.desired import Graph
from applier.errors import Forbidden
from applier.events import Finished, RunMeter
from applier.outcome import Action, Outcome, Step
from applier.prune.deletion import Deleter, teardown
from applier.ref import Manifest, Ref, owner_uids, uid_of
from applier.run.live_state import queries_for
from applier.wait.gone import Remaining, wait_gone
from grove_operator.cluster.desired import is_compiled

ORPHAN = "Orphan"


class DeletionPlan(NamedTuple):
    """What happens to each object: `deleted` by us, `cascaded` after its owner, `missing` from the cluster although a file has it, or
    `foreign`, compiled but applied by another manager. What is `unread` may not be read: compiled objects, which go with their owner.
    """

    deleted: dict[Ref, Manifest]
    cascaded: dict[Ref, Manifest]
    missing: list[Ref]
    foreign: list[Ref]
    unread: list[Ref]


async def plan_deletion(graph: Graph, cluster: Cluster, *, manager: str) -> DeletionPlan:
    """Decides which live objects of a graph are deleted. Objects of files are, as with kubectl.

    Compiled objects are deleted with their owner, whose controller would create them again; those without an owner only if `manager` has
    applied them. Raises `ClusterError`, also where something may not be read that has no owner.
    """
    live = await read_once(cluster, queries_for(graph), partial=True)
    plan = DeletionPlan({}, {}, [], [], [])
    uids: set[str] = set()
    for desired in graph.objects.values():
        if (error := live.unread.get(desired.ref[:3])) is not None:
            if not is_compiled(desired) or desired.owner is None or not isinstance(error, Forbidden):
                raise error
            plan.unread.append(desired.ref)
            continue
        manifest = live.get(desired.ref)
        if manifest is None:
            plan.missing.extend([] if is_compiled(desired) else [desired.ref])
            continue
        if owner_uids(manifest) & uids:
            plan.cascaded[desired.ref] = manifest
        elif not is_compiled(desired) or applied_by(manifest, manager):
            plan.deleted[desired.ref] = manifest
        else:
            plan.foreign.append(desired.ref)
            continue
        uids.add(uid_of(manifest))
    return plan


async def delete_planned(plan: DeletionPlan, graph: Graph, deletion: Deleter) -> list[Outcome]:
    """Deletes objects by UID, dependents first. Returns an outcome for each, and for those that are deleted with their owner."""
    account = RunMeter(deletion.cluster, deletion.sink)
    deadline = time.monotonic() + deletion.seconds
    order = teardown(plan.deleted.values(), graph)
    account.planned({Action.PRUNED: len(plan.deleted) + len(plan.cascaded)}, len(order.waves))
    outcomes = await deletion.run([Step.deletion(live) for live in plan.deleted.values()], plan.deleted, order)
    if deletion.propagation != ORPHAN:
        outcomes += await _cascaded(plan.cascaded, deletion, deadline)
    account.closed(outcomes)
    return outcomes


async def _cascaded(objects: dict[Ref, Manifest], deletion: Deleter, deadline: float) -> list[Outcome]:
    """Waits until objects are deleted with their owners, and returns an outcome for each."""
    remaining: dict[Ref, Remaining] = {}
    if deletion.wait_for_all and not deletion.dry_run:
        seconds = max(deadline - time.monotonic(), 0)
        remaining = await wait_gone(objects.values(), deletion.cluster, seconds=seconds, sink=deletion.sink)
    outcomes = [_outcome(Step.deletion(live, "deleted with its owner"), remaining) for live in objects.values()]
    for outcome in outcomes:
        deletion.sink(Finished(outcome))
    return outcomes


def _outcome(step: Step, remaining: dict[Ref, Remaining]) -> Outcome:
    """Returns the outcome of an object that is deleted with its owner; `remaining` has the objects that still exist, and why."""
    if step.ref in remaining:
        reason, step.obstacle = remaining[step.ref]
        return Outcome(step, Action.FAILED, f"should have been deleted with its owner, but still exists: {reason}", step.uid)
    return Outcome(step, Action.PRUNED, step.reason, step.uid)
