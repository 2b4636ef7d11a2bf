"""What an apply would be refused, or is held for, as only the cluster can say: places that are missing, and the names of other sets.

Objects of a namespace that is missing, or is being deleted, are refused. An apply is told so by the server, object by object. Who only
looks would be told that all of them are created.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from applier.cache.read import AT_ONCE, FEW
from applier.cluster import Cluster, Resource, find
from applier.errors import ClusterError, Forbidden
from applier.outcome import Action, Step
from applier.plan import Plan
from applier.plan.membership import LABEL, set_of
from applier.ref import NAMESPACE, Kind, Manifest, Ref, is_being_deleted

if TYPE_CHECKING:
    from applier.prune import OpenApplySet

MADE = frozenset({Action.CREATED, Action.RECREATED})


async def check_places(plan: Plan, cluster: Cluster) -> None:
    """Lets the steps fail for which there is no place, with the server's reasons.

    A namespace that is in the plan itself is a place: it comes first, and when it fails, what is in it waits for it. Where a namespace may
    not be read, nothing is said about it. Raises `ClusterError` when one cannot be read for another reason.
    """
    planned = {step.ref.name for step in plan.steps if step.ref[:2] == NAMESPACE}
    made = [step for step in plan.steps if step.action in MADE and step.ref.namespace and step.ref.namespace not in planned]
    if made:
        why = await no_places({step.ref.namespace for step in made}, cluster)
        _fail(made, why)


def _fail(made: Iterable[Step], why: dict[str, str]) -> None:
    for step in made:
        if reason := why.get(step.ref.namespace):
            step.action, step.reason, step.unsure = Action.FAILED, reason, False


async def no_places(names: Collection[str], cluster: Cluster) -> dict[str, str]:
    """Returns why nothing can be made in these namespaces, by name; those that are as they should be, or may not be read, are not in it."""
    resource = await cluster.resource(Kind("", "v1", "Namespace"))
    live = await (_listed if len(names) > FEW else _read)(names, resource, cluster)
    return {name: why for name, one in live.items() if (why := _why_not(name, one))}


async def _listed(names: Collection[str], resource: Resource, cluster: Cluster) -> dict[str, Manifest | None]:
    try:
        listing = await cluster.list(resource)
    except Forbidden:  # a role may allow to read single ones
        return await _read(names, resource, cluster)
    there = {Ref.of(manifest).name: manifest for manifest in listing.items}
    return {name: there.get(name) for name in names}


async def _read(names: Collection[str], resource: Resource, cluster: Cluster) -> dict[str, Manifest | None]:
    at_once = asyncio.Semaphore(AT_ONCE)
    live: dict[str, Manifest | None] = {}

    async def one(name: str) -> None:
        async with at_once:
            try:
                live[name] = await find(cluster, resource, "", name)
            except Forbidden:
                return

    await asyncio.gather(*map(one, sorted(names)))
    return live


def _why_not(name: str, live: Manifest | None) -> str:
    """Says why not, in the words in which a refusal of the server is told."""
    if live is None:
        return f"namespace {name!r} does not exist"
    if is_being_deleted(live):
        return f"namespace {name!r} is being deleted: nothing can be made in it until it is gone and made again"
    return ""


async def check_record(opened: OpenApplySet, cluster: Cluster) -> None:
    """Raises `ApplySetError` when the record of a new set could not be made."""
    parent = opened.options.applyset.parent
    if Ref(*NAMESPACE, "", parent.namespace) in opened.graph.objects:
        return  # it is made before the record
    if opened.is_new and parent.namespace and (why := await no_places([parent.namespace], cluster)):
        from applier.prune import ApplySetError  # only for sets

        raise ApplySetError(f"the record of the set, {parent}, could not be made: {why[parent.namespace]}")


async def name_sets(plan: Plan, cluster: Cluster) -> None:
    """Puts the name of the record where a reason has the id of another set. No request when nothing is held for one.

    A label has only the id, which is a hash, and people know the record by its name. Records are looked for among Secrets and
    ConfigMaps of the members' own namespaces, where nearly all are. What may not be read or is not there leaves the id.
    """
    held: dict[tuple[str, str], list[Step]] = {}
    for step in plan.steps:
        over_label = step.action is Action.HELD and any(conflict.path == LABEL for conflict in step.conflicts)
        if over_label and (id := set_of(plan.live[step.ref])):
            held.setdefault((id, step.ref.namespace), []).append(step)
    for (id, namespace), steps in held.items():
        parent = await _record(id, namespace, cluster)
        for step in steps if parent else ():
            step.reason = step.reason.replace(id, str(parent))


async def _record(id: str, namespace: str, cluster: Cluster) -> Ref | None:
    from applier.prune.applyset import applyset_id  # only for sets
    from applier.prune.record import BUILT_IN_PARENTS, ID

    for kind in sorted(BUILT_IN_PARENTS) if namespace else ():
        with suppress(ClusterError):
            listing = await cluster.list(await cluster.resource(kind), namespace, labels=f"{ID}={id}")
            for ref in map(Ref.of, listing.items):
                if applyset_id(ref) == id:
                    return ref
    return None
