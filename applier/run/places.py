"""Whether there is a place for what would be made: objects of a namespace that is missing, or is being deleted, are refused.

An apply is told so by the server, object by object. Who only looks would be told that all of them are created.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable

from applier.cache.read import AT_ONCE, FEW
from applier.cluster import Cluster, Resource, find
from applier.errors import Forbidden
from applier.outcome import Action, Step
from applier.plan import Plan
from applier.plan.order import NAMESPACE
from applier.ref import Kind, Manifest, Ref
from applier.terminating import is_being_deleted

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
    """Why nothing can be made in these namespaces, by name; those that are as they should be, or may not be read, are not in it."""
    resource = await cluster.resource(Kind("", "v1", "Namespace"))
    found = await (_listed if len(names) > FEW else _asked)(names, resource, cluster)
    return {name: why for name, live in found.items() if (why := _why_not(name, live))}


async def _listed(names: Collection[str], resource: Resource, cluster: Cluster) -> dict[str, Manifest | None]:
    try:
        listing = await cluster.list(resource)
    except Forbidden:  # a role may allow to read single ones
        return await _asked(names, resource, cluster)
    there = {Ref.of(manifest).name: manifest for manifest in listing.items}
    return {name: there.get(name) for name in names}


async def _asked(names: Collection[str], resource: Resource, cluster: Cluster) -> dict[str, Manifest | None]:
    at_once = asyncio.Semaphore(AT_ONCE)
    found: dict[str, Manifest | None] = {}

    async def one(name: str) -> None:
        async with at_once:
            try:
                found[name] = await find(cluster, resource, "", name)
            except Forbidden:
                return

    await asyncio.gather(*map(one, sorted(names)))
    return found


def _why_not(name: str, live: Manifest | None) -> str:
    """The words are those in which a refusal of the server is told."""
    if live is None:
        return f"namespace {name!r} does not exist"
    if is_being_deleted(live):
        return f"namespace {name!r} is being deleted: nothing can be made in it until it is gone and made again"
    return ""
