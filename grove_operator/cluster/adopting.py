"""Ownership moved from other managers to ours, without a change to any object."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from applier.cluster import Cluster
from applier.desired import Desired, Graph
from applier.errors import ClusterError, WriteConflict
from applier.events import Finished, Sink, nowhere
from applier.outcome import Action, Outcome, Step
from applier.plan.takeover import entries_of, ownership_patch
from applier.ref import Kind, Manifest, resource_version_of, uid_of
from applier.run.reading import read

AT_ONCE = 16
TRIES = 5  # how often an object that somebody else writes at the same time is looked at again


async def adopt(
    graph: Graph, cluster: Cluster, *, manager: str, managers: Sequence[str], dry_run: bool = False, sink: Sink = nowhere
) -> list[Outcome]:
    """Makes ours what `managers` own of the graph's objects; an outcome for each object. Raises `ClusterError` when none can be read.

    Only `metadata.managedFields` is written, and only over the version that was read: nothing restarts, and no value changes.
    """
    live = await read(graph, cluster)
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(desired: Desired) -> Outcome:
        async with gate:
            outcome = await _one(desired, live.get(desired.ref), cluster, manager, managers, dry_run)
        sink(Finished(outcome))
        return outcome

    return list(await asyncio.gather(*(one(desired) for desired in graph.objects.values())))


async def _one(desired: Desired, live: Manifest | None, cluster: Cluster, manager: str, managers: Sequence[str], dry_run: bool) -> Outcome:
    step = Step(desired.ref, Action.UNCHANGED)
    if live is None:
        return Outcome(step, Action.UNCHANGED, "does not exist yet")
    step.uid, step.resource_version = uid_of(live), resource_version_of(live)
    try:
        return await _move(step, Kind.of(desired.manifest), live, cluster, manager, managers, dry_run)
    except ClusterError as error:
        return Outcome(step, Action.FAILED, str(error), step.uid, error=error)


async def _move(step: Step, kind: Kind, live: Manifest, cluster: Cluster, manager: str, managers: Sequence[str], dry_run: bool) -> Outcome:
    resource = await cluster.resource(kind)
    for left in reversed(range(TRIES)):
        patch = ownership_patch(live, manager, managers)
        found = [name for name in _names(live) if name in managers]
        if not patch or not found:
            return Outcome(step, Action.UNCHANGED, f"nothing in it belongs to {' or '.join(managers)}", step.uid)
        step.action, step.reason = Action.CONFIGURED, f"ownership taken over from {', '.join(found)}"
        try:
            await cluster.patch(resource, step.ref.namespace, step.ref.name, patch, manager=manager, dry_run=dry_run)
            break
        except WriteConflict:
            if not left:
                raise
            live = await cluster.get(resource, step.ref.namespace, step.ref.name)
    return Outcome(step, Action.CONFIGURED, step.reason, step.uid)


def _names(live: Manifest) -> list[str]:
    """The managers of an object, each once."""
    return list(dict.fromkeys(str(entry.get("manager")) for entry in entries_of(live)))
