"""Deletes all objects of a graph, or a whole set with its record."""

from __future__ import annotations

from collections import Counter

from applier.cache.read import read_once
from applier.cache.snapshot import by_place
from applier.cluster import Cluster, find
from applier.desired import Graph
from applier.events import Account, Finished, Sink, nowhere
from applier.outcome import UNDONE, Action, Outcome, Step
from applier.prune.applyset import ApplySet
from applier.prune.deletion import Deletion
from applier.prune.open_applyset import ApplySetOptions, OpenApplySet
from applier.prune.record import BUILT_IN_PARENTS, TOOLING, tool_of
from applier.prune.teardown import teardown
from applier.ref import Kind, Manifest, resource_version_of, uid_of

MINUTES = 300.0  # seconds that are waited at most, unless told


async def delete(
    graph: Graph,
    cluster: Cluster,
    *,
    ignore_not_found: bool = False,
    wait: bool = True,
    seconds: float = MINUTES,
    propagation: str = "Background",
    sink: Sink = nowhere,
    dry_run: bool = False,
) -> list[Outcome]:
    """Deletes the graph's objects that are there, whoever made them: what rests on others first, each by its UID.

    With `wait` an object counts only when it is gone, at the latest after `seconds` in all; without, when its deletion is asked for.
    `propagation` is Background, Foreground or Orphan. What is not there is an outcome FAILED unless it may be missing. Raises
    `ClusterError` when what is there cannot be read.
    """
    account = Account(cluster, sink)
    known = await read_once(cluster, by_place((Kind.of(desired.manifest), ref) for ref, desired in graph.objects.items()))
    live = {ref: manifest for ref in graph.objects if (manifest := known.get(ref)) is not None}
    steps = [Step(ref, Action.PRUNED, uid=uid_of(one), resource_version=resource_version_of(one)) for ref, one in live.items()]
    seconds = seconds if wait else 0.0
    deletion = Deletion(cluster, propagation=propagation, seconds=seconds, wait_for_all=wait, sink=sink, dry_run=dry_run)
    order = teardown(live.values(), graph)
    account.planned({Action.PRUNED: len(steps)}, len(order.waves))
    outcomes = await deletion.run(steps, live, order)
    missing = (
        []
        if ignore_not_found
        else [Outcome(Step(ref, Action.PRUNED), Action.FAILED, "not found") for ref in graph.objects if ref not in live]
    )
    for outcome in missing:
        sink(Finished(outcome))
    account.closed(outcomes + missing)
    return outcomes + missing


async def delete_set(
    applyset: ApplySet,
    cluster: Cluster,
    *,
    wait: bool = True,
    seconds: float = MINUTES,
    propagation: str = "Background",
    sink: Sink = nowhere,
    dry_run: bool = False,
) -> list[Outcome]:
    """Deletes all members of a set, and then its parent, if that was made for nothing but the record and the set is ours.

    The options are those of `delete`. Raises `ApplySetError` when the set cannot be used or its members cannot be listed.
    """
    account = Account(cluster, sink)
    opened = await OpenApplySet.open(ApplySetOptions(applyset), Graph([]), cluster)
    account.planned(Counter(step.action for step in opened.steps), len(opened.order.waves))
    seconds = seconds if wait else 0.0
    outcomes = await opened.finish([], seconds=seconds, wait_for_all=wait, propagation=propagation, sink=sink, dry_run=dry_run)
    outcomes += await _record_deleted(opened, outcomes, propagation, sink, dry_run)
    account.closed(outcomes)
    return outcomes


async def _record_deleted(opened: OpenApplySet, outcomes: list[Outcome], propagation: str, sink: Sink, dry_run: bool) -> list[Outcome]:
    """Deletes the parent of a set of which nothing is left, if it may go; what became of it."""
    applyset, cluster = opened.keeper.applyset, opened.keeper.cluster
    if any(outcome.action in UNDONE for outcome in outcomes) or opened.members.unserved:
        return []
    parent = await _parent_of(opened)
    if parent is None:
        return []
    ref = applyset.parent
    step = Step(ref, Action.PRUNED, "the set is empty", uid=uid_of(parent), resource_version=resource_version_of(parent))
    deletion = Deletion(cluster, lambda live: _is_only_a_record(live, applyset), propagation, sink=sink, dry_run=dry_run)
    return await deletion.run([step], {ref: parent}, teardown([parent]))


async def _parent_of(opened: OpenApplySet) -> Manifest | None:
    """The parent, if it may go with its set."""
    keeper = opened.keeper
    applyset = keeper.applyset
    parent = await find(keeper.cluster, keeper.resource, applyset.namespace, applyset.name)
    return parent if parent is not None and _is_only_a_record(parent, applyset) else None


def _is_only_a_record(parent: Manifest, applyset: ApplySet) -> bool:
    """Says whether a Secret or ConfigMap holds nothing beside the record, and the record is kept by us."""
    if applyset.kind not in BUILT_IN_PARENTS or parent.get("data") or parent.get("binaryData"):
        return False
    annotations = (parent.get("metadata") or {}).get("annotations") or {}
    return tool_of(annotations.get(TOOLING, "")) == tool_of(applyset.tooling)
