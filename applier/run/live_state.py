"""What is there, as far as a graph is concerned, and what is to be done about it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from applier.cache.read import read_once
from applier.cache.snapshot import Snapshot, Wanted, by_place
from applier.cluster import Cluster
from applier.decision import Schemas, hide_secrets
from applier.desired import Graph
from applier.plan import Plan, plan, save
from applier.plan.holding import hold_back
from applier.ref import Kind, Ref, names
from applier.run.options import ApplyOptions
from applier.run.refusals import check_places, check_record, name_sets

if TYPE_CHECKING:
    from applier.prune import OpenApplySet


class Survey(NamedTuple):
    """A plan, and what it was made from.

    `given` is the graph that was given, and `graph` the one to be applied: with the label of the set where it is kept as one.
    """

    plan: Plan
    live: Snapshot
    schemas: Schemas
    given: Graph
    graph: Graph
    applyset: OpenApplySet | None = None

    @property
    def approval(self) -> str:
        """The hash that approves the deletes that are held for being too many; empty when there are none."""
        return self.applyset.approval if self.applyset else ""

    def save(self, *, cluster: str = "", namespace: str = "") -> bytes:
        """Returns the plan, with the set, to be carried out later by `apply_saved`. No value of a Secret is in it.

        `cluster` is the identity of the cluster (`identity_of`): with it, the plan is refused by any other. `namespace` is that of
        manifests that name none, for whoever reads the same input again.
        """
        return save(self.plan, self.given, self.applyset.form() if self.applyset else None, cluster=cluster, namespace=namespace)


def wanted(graph: Graph) -> list[Wanted]:
    """Returns what has to be read to plan a graph: its objects, and owners that are no part of it."""
    return by_place(_objects(graph))


def _objects(graph: Graph) -> Iterator[tuple[Kind, Ref]]:
    for ref, desired in graph.objects.items():
        yield Kind.of(desired.manifest), ref
        owner = desired.owner
        if owner is not None and owner not in graph.objects:
            for entry in desired.manifest["metadata"].get("ownerReferences") or ():
                if names(entry, owner):
                    yield Kind.read(str(entry["apiVersion"]), owner.kind), owner


async def read(graph: Graph, cluster: Cluster) -> Snapshot:
    """Reads what is there of a graph. Raises `ClusterError`."""
    return await read_once(cluster, wanted(graph))


async def survey(graph: Graph, cluster: Cluster, options: ApplyOptions) -> Survey:
    """Reads what is there and plans. Writes nothing.

    What an apply would be refused for want of a namespace is a failed step here, and what would wait for something that fails is held.
    What the plan of a set prunes comes last. Raises `ClusterError` when something cannot be read, `ApplySetError` when the set cannot
    be used, and `Cycle`.
    """
    result = await read_and_plan(graph, cluster, options)
    await check_places(result.plan, cluster)
    hold_back(result.plan)
    if result.applyset:
        await check_record(result.applyset, cluster)
    return result


async def read_and_plan(graph: Graph, cluster: Cluster, options: ApplyOptions) -> Survey:
    """Surveys for whoever goes on to write, and is told by the server then what it refuses.

    One kind that may not be read does not stop the others: its objects are failed steps.
    """
    given, opened = graph, None
    if options.applyset:
        from applier.prune import OpenApplySet  # only for sets

        opened = await OpenApplySet.open(options.applyset, given, cluster)
        graph = opened.graph
    kinds = {Kind.of(desired.manifest) for desired in graph.objects.values()}
    live, schemas = await asyncio.gather(read_once(cluster, wanted(graph), partial=True), cluster.schemas(kinds))
    prunes = opened.steps if opened else []
    planned = plan(graph, live, schemas, options.intent, prunable=prunes, unserved=live.unserved)
    await name_sets(planned, cluster)
    if opened:
        planned.live.update((step.ref, hide_secrets(opened.live[step.ref])) for step in prunes)
    return Survey(planned, live, schemas, given, graph, opened)
