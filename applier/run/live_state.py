"""Reads the live state of a graph's objects, and plans from it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from applier.cache.snapshot import FetchedObjects, Query, by_place, read_once
from applier.cluster import Cluster
from applier.decision import Schemas, hide_secrets
from applier.desired import Graph
from applier.plan import Plan, plan, save
from applier.plan.holding import hold_back
from applier.ref import Kind, Ref, is_reference_to
from applier.run.options import ApplyOptions
from applier.run.refusals import check_namespaces, check_record, name_sets

if TYPE_CHECKING:
    from applier.prune import OpenApplySet


class PreparedApply(NamedTuple):
    """Holds a plan with its inputs.

    `given` is the caller's graph, and `graph` the one that is applied: for an ApplySet its objects have the label of the set.
    """

    plan: Plan
    live: FetchedObjects
    schemas: Schemas
    given: Graph
    graph: Graph
    applyset: OpenApplySet | None = None

    @property
    def approval(self) -> str:
        """Returns the hash that approves deletions that exceed the limit; empty if there are none."""
        return self.applyset.approval if self.applyset else ""

    def save(self, *, cluster: str = "", namespace: str = "") -> bytes:
        """Serializes the plan and its ApplySet, without values of Secrets, for `apply_saved`.

        `cluster` is the identity of the cluster (`identity_of`); if given, the plan is refused for any other. `namespace` is that of
        manifests without one, for reading the same input again.
        """
        return save(self.plan, self.given, self.applyset.form() if self.applyset else None, cluster=cluster, namespace=namespace)


def queries_for(graph: Graph) -> list[Query]:
    """Returns the reads that planning a graph needs: its objects, and owners outside of it."""
    return by_place(_objects(graph))


def _objects(graph: Graph) -> Iterator[tuple[Kind, Ref]]:
    for ref, desired in graph.objects.items():
        yield Kind.of(desired.manifest), ref
        owner = desired.owner
        if owner is not None and owner not in graph.objects:
            for entry in desired.manifest["metadata"].get("ownerReferences") or ():
                if is_reference_to(entry, owner):
                    yield Kind.read(str(entry["apiVersion"]), owner.kind), owner


async def read(graph: Graph, cluster: Cluster) -> FetchedObjects:
    """Reads the live objects of a graph. Raises `ClusterError`."""
    return await read_once(cluster, queries_for(graph))


async def survey(graph: Graph, cluster: Cluster, options: ApplyOptions) -> PreparedApply:
    """Reads the live state and plans, without writing.

    Steps for which the namespace is missing are failed, and steps that depend on failed ones are held. Prune steps come last. Raises
    `ClusterError` if the live state cannot be read, `ApplySetError` if the set cannot be used, and `Cycle`.
    """
    result = await read_and_plan(graph, cluster, options)
    await check_namespaces(result.plan, cluster)
    hold_back(result.plan)
    if result.applyset:
        await check_record(result.applyset, cluster)
    return result


async def read_and_plan(graph: Graph, cluster: Cluster, options: ApplyOptions) -> PreparedApply:
    """Reads and plans as `survey`, but without the checks that an apply leaves to the server.

    A kind that cannot be read, for want of permission, fails only the steps of its own objects.
    """
    given, opened = graph, None
    if options.applyset:
        from applier.prune import OpenApplySet  # only for sets

        opened = await OpenApplySet.open(options.applyset, given, cluster)
        graph = opened.graph
    kinds = {Kind.of(desired.manifest) for desired in graph.objects.values()}
    live, schemas = await asyncio.gather(read_once(cluster, queries_for(graph), partial=True), cluster.schemas(kinds))
    prunes = opened.steps if opened else []
    planned = plan(graph, live, schemas, options.intent, prunable=prunes, unserved=live.unserved)
    await name_sets(planned, cluster)
    if opened:
        planned.live.update((step.ref, hide_secrets(opened.live[step.ref])) for step in prunes)
    return PreparedApply(planned, live, schemas, given, graph, opened)
