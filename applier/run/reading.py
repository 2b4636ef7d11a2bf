"""What is there, as far as a graph is concerned, and what is to be done about it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from applier.cache.read import read_once
from applier.cache.snapshot import Snapshot, Wanted, by_place
from applier.cluster import Cluster
from applier.decision import Schemas, hide_secrets
from applier.desired import Graph
from applier.plan import CLIENT_SIDE, Plan, plan, save
from applier.plan.holding import hold_back
from applier.plan.owners import names
from applier.ref import Kind, Ref
from applier.run.keeping import KeepSet, Kept, open_set
from applier.run.other_sets import name_sets
from applier.run.places import check_places, no_places


class Survey(NamedTuple):
    """A plan, and what it was made from.

    `asked` is the graph that was given, and `graph` the one to be applied: with the label of the set where it is kept as one.
    """

    plan: Plan
    live: Snapshot
    schemas: Schemas
    asked: Graph
    graph: Graph
    kept: Kept | None = None

    @property
    def approval(self) -> str:
        """The hash that approves the deletes that are held for being too many; empty when there are none."""
        return self.kept.approval if self.kept else ""

    def save(self) -> bytes:
        """The plan, with the set, to be carried out later by `apply_saved`. No value of a Secret is in it."""
        return save(self.plan, self.asked, self.kept.form() if self.kept else None)


def wanted(graph: Graph) -> list[Wanted]:
    """What has to be read to plan a graph: its objects, and owners that are no part of it."""
    return by_place(_objects(graph))


def _objects(graph: Graph) -> Iterator[tuple[Kind, Ref]]:
    for ref, desired in graph.objects.items():
        yield Kind.of(desired.manifest), ref
        owner = desired.owner
        if owner is not None and owner not in graph.objects:
            for entry in desired.manifest["metadata"].get("ownerReferences") or ():
                if names(entry, owner):
                    yield Kind.read(str(entry["apiVersion"]), owner.kind), owner


def kinds_of(graph: Graph) -> set[Kind]:
    """The kinds that a graph has objects of."""
    return {Kind.of(desired.manifest) for desired in graph.objects.values()}


async def read(graph: Graph, cluster: Cluster, also: Iterable[Wanted] = ()) -> Snapshot:
    """What is there of a graph, and of what else is asked for. Raises `ClusterError`."""
    return await read_once(cluster, [*wanted(graph), *also])


async def survey(
    graph: Graph,
    cluster: Cluster,
    *,
    manager: str,
    force: tuple[str, ...] = (),
    take_over: tuple[str, ...] = CLIENT_SIDE,
    keep: KeepSet | None = None,
) -> Survey:
    """Reads what is there and plans. Writes nothing.

    What an apply would be refused for want of a namespace is a failed step here, and what would wait for something that fails is held.
    With `keep` the plan is that of a set: what it prunes comes last. Raises `ClusterError` when something cannot be read,
    `ApplySetError` when the set cannot be used, and `Cycle`.
    """
    found = await read_and_plan(graph, cluster, manager=manager, force=force, take_over=take_over, keep=keep)
    await check_places(found.plan, cluster)
    hold_back(found.plan)
    if found.kept:
        await _check_record(found.kept, cluster)
    return found


async def _check_record(kept: Kept, cluster: Cluster) -> None:
    """Raises `ApplySetError` when the record of a new set could not be made."""
    parent = kept.keep.applyset.parent
    if kept.is_new and parent.namespace and (why := await no_places([parent.namespace], cluster)):
        from applier.prune import ApplySetError  # only for sets

        raise ApplySetError(f"the record of the set, {parent}, could not be made: {why[parent.namespace]}")


async def read_and_plan(
    graph: Graph, cluster: Cluster, *, manager: str, force: tuple[str, ...], take_over: tuple[str, ...], keep: KeepSet | None
) -> Survey:
    """`survey` for whoever goes on to write, and is told by the server then what it refuses."""
    asked, kept = graph, await open_set(keep, graph, cluster) if keep else None
    graph, prunes = (kept.pruning.graph, kept.prunes) if kept else (graph, [])
    live, schemas = await asyncio.gather(read(graph, cluster), cluster.schemas(kinds_of(graph)))
    planned = plan(graph, live, schemas, manager=manager, force=force, take_over=take_over, prunable=prunes, unserved=live.unserved)
    await name_sets(planned, cluster)
    if kept:
        planned.found.update((step.ref, hide_secrets(kept.pruning.live[step.ref])) for step in prunes)
    return Survey(planned, live, schemas, asked, graph, kept)
