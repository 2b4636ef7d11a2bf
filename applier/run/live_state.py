"""Reads the live state of a graph's objects, plans from it, and predicts rejections that only the state of the cluster reveals.

An apply learns of a missing namespace from the server, object by object. A plan or diff would report all of its objects as created.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from applier.cache.snapshot import AT_ONCE, FEW, FetchedObjects, Query, by_place, read_once
from applier.cluster import Cluster, Resource, find
from applier.decision import Schemas, hide_secrets
from applier.desired import Graph
from applier.errors import ClusterError, Forbidden, UnknownKind
from applier.outcome import Action, Step
from applier.plan import Plan, as_declared, plan, save
from applier.plan.holding import hold_back
from applier.plan.membership import LABEL, set_of
from applier.ref import NAMESPACE, NAMESPACE_KIND, Kind, Manifest, Ref, is_reference_to, uid_of
from applier.run.options import ApplyOptions
from kube_objects.manifest import is_terminating

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

        `cluster` is the identity of the cluster (`identity_of`); if given, the plan is executed in no other. `namespace` is that of
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
    graph = as_declared(graph, schemas)
    prunes = opened.steps if opened else []
    planned = plan(graph, live, schemas, options.intent, prunable=prunes, unserved=live.unserved)
    await name_sets(planned, cluster)
    if opened:
        planned.live.update((step.ref, hide_secrets(opened.live[step.ref])) for step in prunes)
    return PreparedApply(planned, live, schemas, given, graph, opened)


CREATES = frozenset({Action.CREATED, Action.RECREATED})


async def check_namespaces(plan: Plan, cluster: Cluster) -> None:
    """Fails the steps that create objects in namespaces that are missing or being deleted, with the server's reason.

    A namespace in the plan itself counts as existing: it comes first, and if it fails, its objects are held. One that we may not read
    counts as existing, too. Raises `ClusterError` for any other error of reading it.
    """
    planned = {step.ref.name for step in plan.steps if step.ref[:2] == NAMESPACE}
    creates = [step for step in plan.steps if step.action in CREATES and step.ref.namespace and step.ref.namespace not in planned]
    if creates:
        _fail(creates, await unusable_namespaces({step.ref.namespace for step in creates}, cluster))


def _fail(steps: Iterable[Step], reasons: dict[str, str]) -> None:
    for step in steps:
        if reason := reasons.get(step.ref.namespace):
            step.action, step.reason, step.unsure = Action.FAILED, reason, False


async def unusable_namespaces(names: Collection[str], cluster: Cluster) -> dict[str, str]:
    """Returns, by name, why nothing can be created in those of these namespaces that are missing or being deleted."""
    resource = await cluster.resource(NAMESPACE_KIND)
    live = await (_listed if len(names) > FEW else _read)(names, resource, cluster)
    return {name: reason for name, found in live.items() if (reason := _why_unusable(name, found))}


async def _listed(names: Collection[str], resource: Resource, cluster: Cluster) -> dict[str, Manifest | None]:
    try:
        listing = await cluster.list(resource)
    except Forbidden:  # a role may allow `get` and not `list`
        return await _read(names, resource, cluster)
    existing = {Ref.of(manifest).name: manifest for manifest in listing.items}
    return {name: existing.get(name) for name in names}


async def _read(names: Collection[str], resource: Resource, cluster: Cluster) -> dict[str, Manifest | None]:
    semaphore = asyncio.Semaphore(AT_ONCE)
    live: dict[str, Manifest | None] = {}

    async def read_one(name: str) -> None:
        async with semaphore:
            try:
                live[name] = await find(cluster, resource, "", name)
            except Forbidden:
                return

    await asyncio.gather(*map(read_one, sorted(names)))
    return live


def _why_unusable(name: str, live: Manifest | None) -> str:
    """Returns why nothing can be created in a namespace, as the server's rejection is reported; empty if something can."""
    if live is None:
        return f"namespace {name!r} does not exist"
    if is_terminating(live):
        return f"namespace {name!r} is being deleted: nothing can be created in it until it is deleted and recreated"
    return ""


async def check_record(opened: OpenApplySet, cluster: Cluster) -> None:
    """Raises `ApplySetError` if the record of a new set could not be created."""
    parent = opened.options.applyset.parent
    if Ref(*NAMESPACE, "", parent.namespace) in opened.graph.objects:
        return  # it is created before the record
    if opened.is_new and parent.namespace and (reasons := await unusable_namespaces([parent.namespace], cluster)):
        from applier.prune import ApplySetError  # only for sets

        raise ApplySetError(f"the record of the ApplySet, {parent}, could not be created: {reasons[parent.namespace]}")


async def name_sets(plan: Plan, cluster: Cluster) -> None:
    """Replaces the id of another set in the reasons of held steps by the name of its record. Costs no request without such steps.

    The label of a member has only the id, a hash, while people know the record by name. Records are searched for among the Secrets and
    ConfigMaps of the members' namespaces, where nearly all are. If none is found or readable, the id stays.
    """
    held: dict[tuple[str, str], list[Step]] = {}
    for step in plan.steps:
        over_label = step.action is Action.HELD and any(conflict.path == LABEL for conflict in step.conflicts)
        if over_label and (set_id := set_of(plan.live[step.ref])):
            held.setdefault((set_id, step.ref.namespace), []).append(step)
    for (set_id, namespace), steps in held.items():
        parent = await _record(set_id, namespace, cluster)
        for step in steps if parent else ():
            step.reason = step.reason.replace(set_id, str(parent))


async def _record(set_id: str, namespace: str, cluster: Cluster) -> Ref | None:
    from applier.prune.applyset import (
        BUILT_IN_PARENTS,
        ID,
        applyset_id,  # only for sets
    )

    for kind in sorted(BUILT_IN_PARENTS) if namespace else ():
        with suppress(ClusterError):
            listing = await cluster.list(await cluster.resource(kind), namespace, labels=f"{ID}={set_id}")
            for ref in map(Ref.of, listing.items):
                if applyset_id(ref) == set_id:
                    return ref
    return None


KUBE_SYSTEM = "kube-system"
"""Exists in every cluster from the beginning and is never deleted, so that its UID commonly serves as the cluster's ID."""


async def identity_of(cluster: Cluster) -> str:
    """Returns the UID of `kube-system` as `uid:…`; without permission to read it, the server's address as `server:…`.

    An address is a weaker identity: it may lead to another cluster later, and a cluster may have several. Raises `ClusterError`.
    """
    try:
        live = await find(cluster, await cluster.resource(NAMESPACE_KIND), "", KUBE_SYSTEM)
    except (Forbidden, UnknownKind):
        live = None
    return f"uid:{uid_of(live)}" if live else f"server:{getattr(cluster, 'server', '')}"


class OtherCluster(ClusterError):
    """Reports a plan that was made for another cluster."""

    def __init__(self, planned: str, now: str) -> None:
        super().__init__(
            f"the plan was created for another cluster ({planned}), not this one ({now}): create a new plan, or choose its context"
        )
