"""Predicts refusals that only the cluster's state reveals: namespaces that are missing or being deleted; and names the sets in conflicts.

An apply learns of a missing namespace from the server, object by object. A plan or diff would report all of its objects as created.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from applier.cache.snapshot import AT_ONCE, FEW
from applier.cluster import Cluster, Resource, find
from applier.errors import ClusterError, Forbidden
from applier.outcome import Action, Step
from applier.plan import Plan
from applier.plan.membership import LABEL, set_of
from applier.ref import NAMESPACE, Kind, Manifest, Ref
from kube_objects.manifest import is_terminating

if TYPE_CHECKING:
    from applier.prune import OpenApplySet

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
    resource = await cluster.resource(Kind("", "v1", "Namespace"))
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
    """Returns why nothing can be created in a namespace, as the server's refusal is reported; empty if something can."""
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
