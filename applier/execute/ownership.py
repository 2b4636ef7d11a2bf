"""Ownership of fields moved on the server: taken over from others, and off versions that are no longer served."""

from __future__ import annotations

from applier.cluster import Resource
from applier.errors import UnknownKind
from applier.execute.state import Run
from applier.plan.takeover import entries_of, ownership_patch, repaired, taken_over
from applier.ref import Kind, Manifest, Ref


async def take_over(run: Run, resource: Resource, live: Manifest) -> Manifest:
    """Makes ours what the plan's managers own; the object as it is then, the same when there was nothing to take.

    Raises `WriteConflict` when the object has changed since it was read.
    """
    return await _move(run, resource, live, taken_over(live, run.manager, run.plan.intent.take_over))


async def repair(run: Run, resource: Resource, live: Manifest) -> Manifest:
    """Moves the entries of every version that is not served to the one that we write in. Raises `WriteConflict`.

    Only versions of the object's own group are looked at: others belong to subresources like `autoscaling/v1` Scale.
    """
    group = Kind.of(live).group
    known = {str(entry.get("apiVersion")) for entry in entries_of(live)}
    served = {version for version in known if Kind.read(version, "").group != group}
    for version in known - served:
        if await _is_served(run, Kind.read(version, resource.kind.kind)):
            served.add(version)
    return await _move(run, resource, live, repaired(live, served, resource.kind.api_version))


async def _is_served(run: Run, kind: Kind) -> bool:
    try:
        await run.resource(kind)
    except UnknownKind:
        return False
    return True


async def _move(run: Run, resource: Resource, before: Manifest, after: Manifest) -> Manifest:
    if after is before:
        return before
    ref, patch = Ref.of(before), ownership_patch(before, after)
    return await run.ask(lambda: run.cluster.patch(resource, ref.namespace, ref.name, patch, manager=run.manager, dry_run=run.dry_run))
