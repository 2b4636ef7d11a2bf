"""Deletes all objects of a graph, or a whole set with its record."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from applier.cache.snapshot import by_place, read_once
from applier.cluster import find
from applier.desired import Graph
from applier.events import Finished, RunMeter
from applier.outcome import UNDONE, Action, Outcome, Step
from applier.prune.applyset import BUILT_IN_PARENTS, TOOLING, ApplySet, tool_of
from applier.prune.deletion import Deleter, teardown
from applier.prune.keeper import Keeper
from applier.prune.open_applyset import ApplySetOptions, OpenApplySet
from applier.ref import Kind, Manifest


async def delete(graph: Graph, deletion: Deleter, *, ignore_not_found: bool = False) -> list[Outcome]:
    """Deletes the graph's objects that exist, whoever created them: dependants first, each by its UID.

    A missing object is a FAILED outcome unless `ignore_not_found`. Raises `ClusterError` when the live objects cannot be read.
    """
    account = RunMeter(deletion.cluster, deletion.sink)
    known = await read_once(deletion.cluster, by_place((Kind.of(desired.manifest), ref) for ref, desired in graph.objects.items()))
    live = {ref: manifest for ref in graph.objects if (manifest := known.get(ref)) is not None}
    steps = [Step.deletion(manifest) for manifest in live.values()]
    order = teardown(live.values(), graph)
    account.planned({Action.PRUNED: len(steps)}, len(order.waves))
    outcomes = await deletion.run(steps, live, order)
    if not ignore_not_found:
        missing = [Outcome(Step(ref, Action.PRUNED), Action.FAILED, "not found") for ref in graph.objects if ref not in live]
        for outcome in missing:
            deletion.sink(Finished(outcome))
        outcomes += missing
    account.closed(outcomes)
    return outcomes


async def delete_set(applyset: ApplySet, deletion: Deleter, approval: str = "") -> list[Outcome]:
    """Deletes all members of a set, and then its parent, if that holds nothing but the record and our tool manages the set.

    If deleting a namespace or a definition would delete objects of others, all is held until the `approval` in the reason is given.
    Raises `ApplySetError` when the set cannot be used or its members cannot be listed.
    """
    account = RunMeter(deletion.cluster, deletion.sink)
    opened = await OpenApplySet.open(ApplySetOptions(applyset, approval=approval), Graph([]), deletion.cluster, whole=True)
    account.planned(Counter(step.action for step in opened.steps), len(opened.order.waves))
    outcomes = await opened.finish([], deletion)
    # The record is deleted last, after every member: without it, remaining members could not be found.
    if not opened.members.unserved and not any(outcome.action in UNDONE for outcome in outcomes):
        outcomes += await _delete_record(opened.keeper, deletion)
    account.closed(outcomes)
    return outcomes


async def _delete_record(keeper: Keeper, deletion: Deleter) -> list[Outcome]:
    """Deletes the parent of an empty set, if it holds nothing else; returns its outcome."""
    applyset = keeper.applyset
    parent = await find(keeper.cluster, keeper.resource, applyset.namespace, applyset.name)
    if parent is None or not _is_only_a_record(parent, applyset):
        return []
    # Checked again after a conflict: data may have been added to the parent since it was read.
    alone = replace(deletion, still_meant=lambda live: _is_only_a_record(live, applyset), wait_for_all=False)
    return await alone.run([Step.deletion(parent, "the ApplySet is empty")], {applyset.parent: parent}, teardown([parent]))


def _is_only_a_record(parent: Manifest, applyset: ApplySet) -> bool:
    """Reports whether a Secret or ConfigMap holds nothing besides the record, and our tool manages the record."""
    if applyset.kind not in BUILT_IN_PARENTS or parent.get("data") or parent.get("binaryData"):
        return False
    annotations = (parent.get("metadata") or {}).get("annotations") or {}
    return tool_of(annotations.get(TOOLING, "")) == tool_of(applyset.tooling)
