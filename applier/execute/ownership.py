"""Ownership of fields moved on the server: taken over from others, and off versions that are no longer served."""

from __future__ import annotations

from functools import partial

from applier.cluster import Resource
from applier.decision import old_versions
from applier.decision.managers import Patch, entries_of, ownership_patch, taken_over
from applier.errors import Invalid, UnknownKind, WriteConflict
from applier.execute.state import Run
from applier.ref import Kind, Manifest, Ref


async def put_right(run: Run, resource: Resource, live: Manifest) -> Manifest:
    """Makes ours what the plan takes over, and readable what the server would forget; the object as it is then.

    The same object when there is nothing to do. Raises `WriteConflict` when it has changed since it was read.
    """
    live = await _patch(run, resource, live, old_versions(live, await _served(run, resource, live)))
    return await _patch(run, resource, live, ownership_patch(live, run.manager, run.plan.intent.take_over))


async def _served(run: Run, resource: Resource, live: Manifest) -> set[str]:
    """Of the versions in an object's managedFields, those that are served.

    Only versions of the object's own group are looked at: others belong to subresources, like `autoscaling/v1` to scale.
    """
    known = {str(entry.get("apiVersion")) for entry in entries_of(live)}
    return {version for version in known if await _is_served(run, resource.kind, Kind.read(version, resource.kind.kind))}


async def _is_served(run: Run, ours: Kind, kind: Kind) -> bool:
    if kind == ours or kind.group != ours.group:
        return True
    try:
        await run.cluster.resource(kind)
    except UnknownKind:
        return False
    return True


async def _patch(run: Run, resource: Resource, live: Manifest, patch: Patch) -> Manifest:
    """The patched object; in a dry run, where nothing is kept, as it would be."""
    if not patch:
        return live
    if run.dry_run:
        return taken_over(live, patch)
    ref = Ref.of(live)
    try:
        return await run.ask(partial(run.cluster.patch, resource, ref.namespace, ref.name, patch, manager=run.manager))
    except Invalid as error:  # how a server says that a patch's test has failed
        raise WriteConflict(409, "Conflict", f"{ref} has changed meanwhile: {error}") from None
