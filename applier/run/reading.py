"""What is there, as far as a graph is concerned, and what is to be done about it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from applier.cache.read import read_once
from applier.cache.snapshot import Snapshot, Wanted
from applier.cluster import Cluster
from applier.decision import Schemas
from applier.desired import Graph
from applier.outcome import Step
from applier.plan import CLIENT_SIDE, Plan, plan
from applier.plan.owners import names
from applier.ref import Kind


class Survey(NamedTuple):
    """A plan, and what it was made from."""

    plan: Plan
    live: Snapshot
    schemas: Schemas


def wanted(graph: Graph) -> list[Wanted]:
    """What has to be read to plan a graph: its objects, and owners that are no part of it."""
    found: dict[tuple[Kind, str], dict[str, None]] = {}
    for ref, desired in graph.objects.items():
        found.setdefault((Kind.of(desired.manifest), ref.namespace), {})[ref.name] = None
        owner = desired.owner
        if owner is not None and owner not in graph.objects:
            for entry in desired.manifest["metadata"].get("ownerReferences") or ():
                if names(entry, owner):
                    found.setdefault((Kind.read(str(entry["apiVersion"]), owner.kind), owner.namespace), {})[owner.name] = None
    return [Wanted(kind, namespace, tuple(by_name)) for (kind, namespace), by_name in found.items()]


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
    prunable: Sequence[Step] = (),
) -> Survey:
    """Reads what is there and plans. Writes nothing. Raises `ClusterError` when something cannot be read, and `Cycle`."""
    live, schemas = await asyncio.gather(read(graph, cluster), cluster.schemas(kinds_of(graph)))
    planned = plan(graph, live, schemas, manager=manager, force=force, take_over=take_over, prunable=prunable, unserved=live.unserved)
    return Survey(planned, live, schemas)
