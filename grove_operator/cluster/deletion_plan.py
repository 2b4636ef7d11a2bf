"""Plans and executes `grove delete`: what files name, what we made of it, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

from applier.cluster import Cluster
from applier.decision.managers import applied_by
from applier.desired import Desired, Graph
from applier.events import Account, Finished
from applier.outcome import Action, Outcome, Step
from applier.prune.deletion import Deletion
from applier.prune.teardown import teardown
from applier.ref import Manifest, Ref, resource_version_of, uid_of
from applier.run.live_state import read
from applier.wait.gone import wait_gone

ORPHAN = "Orphan"
RULE = "rule "
"""How the source of a compiled object begins."""


class DeletionPlan(NamedTuple):
    """Says what a deletion does to each object: `deleted` by us; `cascaded`, gone with an owner that is deleted; `missing`, named by a
    file but not live; and `foreign`, named by a rule but applied by others.
    """

    deleted: dict[Ref, Manifest]
    cascaded: dict[Ref, Manifest]
    missing: list[Ref]
    foreign: list[Ref]


async def plan_deletion(graph: Graph, cluster: Cluster, *, manager: str) -> DeletionPlan:
    """Decides which live objects of a graph are deleted. An object that a file names goes, as with kubectl: people mean it.

    One that a rule made goes along with its owner, since whoever runs the owner would make it again; one without goes only if it is ours:
    this manager has applied it. Raises `ClusterError`.
    """
    live = await read(graph, cluster)
    plan = DeletionPlan({}, {}, [], [])
    uids: set[str] = set()
    for desired in graph.objects.values():
        manifest = live.get(desired.ref)
        if manifest is None:
            plan.missing.extend([] if _is_compiled(desired) else [desired.ref])
            continue
        if _owners(manifest) & uids:
            plan.cascaded[desired.ref] = manifest
        elif not _is_compiled(desired) or applied_by(manifest, manager):
            plan.deleted[desired.ref] = manifest
        else:
            plan.foreign.append(desired.ref)
            continue
        uids.add(uid_of(manifest))
    return plan


async def delete_planned(plan: DeletionPlan, graph: Graph, deletion: Deletion) -> list[Outcome]:
    """Deletes these objects, what rests on others first, each with its UID; an outcome for each, and for those that go with an owner."""
    account = Account(deletion.cluster, deletion.sink)
    until = time.monotonic() + deletion.seconds
    order = teardown(plan.deleted.values(), graph)
    account.planned({Action.PRUNED: len(plan.deleted) + len(plan.cascaded)}, len(order.waves))
    outcomes = await deletion.run([_step(ref, live) for ref, live in plan.deleted.items()], plan.deleted, order)
    if deletion.propagation != ORPHAN:
        outcomes += await _cascaded(plan.cascaded, deletion, until)
    account.closed(outcomes)
    return outcomes


async def _cascaded(objects: dict[Ref, Manifest], deletion: Deletion, until: float) -> list[Outcome]:
    """Waits for the objects that go with their owners, and returns an outcome for each."""
    there: dict[Ref, str] = {}
    if deletion.wait_for_all and not deletion.dry_run:
        there = await wait_gone(objects.values(), deletion.cluster, seconds=max(until - time.monotonic(), 0), sink=deletion.sink)
    outcomes = [_outcome(_step(ref, live, "goes with its owner"), there) for ref, live in objects.items()]
    for outcome in outcomes:
        deletion.sink(Finished(outcome))
    return outcomes


def _step(ref: Ref, live: Manifest, reason: str = "") -> Step:
    return Step(ref, Action.PRUNED, reason, uid=uid_of(live), resource_version=resource_version_of(live))


def _outcome(step: Step, there: dict[Ref, str]) -> Outcome:
    """Returns the outcome of an object that goes with its owner; `there` holds those that are left, and why."""
    if step.ref in there:
        return Outcome(step, Action.FAILED, f"should go with its owner, but is still there: {there[step.ref]}", step.uid)
    return Outcome(step, Action.PRUNED, step.reason, step.uid)


def _is_compiled(desired: Desired) -> bool:
    return desired.source.startswith(RULE)


def _owners(manifest: Manifest) -> set[str]:
    references: Iterable[Manifest] = manifest["metadata"].get("ownerReferences") or ()
    return {str(reference.get("uid")) for reference in references}
