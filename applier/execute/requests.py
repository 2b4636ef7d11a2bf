"""Makes the requests of a run, with the state that its steps share, and retries temporary rejections.

What a rejection means for a step is decided in `applier.execute.write`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from applier.cluster import Cluster, Resource, find
from applier.decision import Schemas, Type, rewrite_old_versions
from applier.decision.emptied import Emptied, emptying_patch, without_emptied
from applier.decision.managers import Patch, after_takeover, entries_of, ownership_patch
from applier.desired import Desired, Graph
from applier.errors import ApplierError, ClusterError, FieldConflict, Invalid, NotFound, UnknownKind, Unreachable, WriteConflict
from applier.execute.concurrency import Concurrency
from applier.execute.options import ExecuteOptions, backoff, poll
from applier.execute.refusals import conflicts_of, is_passing
from applier.outcome import Action, Conflict, Outcome
from applier.plan import Plan
from applier.plan.holding import Causes
from applier.plan.order import defined_kinds
from applier.ref import GroupKind, Kind, Manifest, Ref, being_deleted, is_reference_to, refers_to, resource_version_of, uid_of, with_owner
from applier.stop import Stop
from kube_objects.manifest import is_terminating

T = TypeVar("T")
OVER = object()


class UnresolvedConflicts(Exception):
    """Reports conflicts with managers whose fields may not be taken."""

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        self.conflicts = conflicts
        super().__init__()


class OwnerMissing(ApplierError):
    """Reports that the owner of an object does not exist, so that the object cannot be created."""


class DeletionPending(Exception):
    """Reports a deleted object that is not gone in time; the message names its finalizers."""


@dataclass(slots=True, eq=False)
class Execution:
    """Holds the state of one execution of a plan.

    `outcomes` and `uids` grow with each finished step. `causes` holds the first cause of each held step; `defined` the definitions of the
    graph, by the kind that they define.
    """

    plan: Plan
    graph: Graph
    cluster: Cluster
    options: ExecuteOptions = field(default_factory=ExecuteOptions)
    outcomes: dict[Ref, Outcome] = field(default_factory=dict)
    uids: dict[Ref, str] = field(default_factory=dict)
    causes: Causes = field(default_factory=dict)
    schemas: dict[Kind, Type | None] = field(default_factory=dict)
    limit: Concurrency = field(init=False)
    defined: dict[GroupKind, Ref] = field(init=False)

    def __post_init__(self) -> None:
        self.defined = defined_kinds(self.graph)
        sink = self.options.sink
        self.limit = self.options.concurrency or Concurrency(throttled=lambda: getattr(self.cluster, "throttled", 0), sink=sink)
        self.uids.update((step.ref, step.uid) for step in self.plan.steps if step.uid and step.action is not Action.CREATED)

    @property
    def manager(self) -> str:
        """Returns the field manager of all writes but applies of parts."""
        return self.plan.intent.manager

    def manager_of(self, ref: Ref) -> str:
        """Returns the field manager that applies an object."""
        return self.plan.intent.manager_of(self.graph.objects[ref].policy)

    def is_new(self, ref: Ref) -> bool:
        """Reports whether this run has created or recreated an object."""
        outcome = self.outcomes.get(ref)
        return outcome is not None and outcome.action in (Action.CREATED, Action.RECREATED)

    def notify_written(self, manifest: Manifest) -> None:
        """Passes the answer to a write on to the caller."""
        if self.options.after_write is not None:
            self.options.after_write(manifest)

    async def request(self, call: Callable[[], Awaitable[T]]) -> T:
        """Makes one request within the limit of concurrent ones."""
        return await self.limit.run(call, self.options.group)

    async def read(self, ref: Ref, kind: Kind) -> Manifest | None:
        """Reads an object from the server; None if there is none."""
        resource = await self.cluster.resource(kind)
        return await self.request(lambda: find(self.cluster, resource, ref.namespace, ref.name))

    async def schema(self, kind: Kind) -> Type | None:
        """Returns the schema of a kind, including one that the graph itself defines once that is served."""
        known = self.plan.schemas.get(kind) or self.schemas.get(kind)
        if known is None and kind not in self.schemas:
            fresh: Schemas = await self.cluster.schemas([kind])
            known = self.schemas[kind] = fresh.get(kind)
        return known

    async def write(self, call: Callable[[], Awaitable[Manifest]], kind: Kind) -> Manifest:
        """Makes a write, and retries it for a while if the rejection may be temporary."""
        waits: AsyncIterator[None] | None = None  # created only if needed, which is rare
        while True:
            try:
                return await self.request(call)
            except ClusterError as error:
                if self.options.dry_run or not is_passing(error, defined=(kind.group, kind.kind) in self.defined):
                    raise
                waits = waits or backoff(self.options.timeouts, self.options.stop, self.options.timeouts.passing)
                if await anext(waits, OVER) is OVER:
                    raise


async def apply_manifest(run: Execution, manifest: Manifest, *, force: bool, on_created: Callable[[], None] | None = None) -> Manifest:
    """Applies a manifest on the server; returns the resulting object. `on_created` is called if this request has created it."""
    resource = await run.cluster.resource(Kind.of(manifest))
    manager, dry_run = run.manager_of(Ref.of(manifest)), run.options.dry_run
    call = partial(run.cluster.apply, resource, manifest, manager=manager, force=force, dry_run=dry_run, on_created=on_created)
    return await run.write(call, resource.kind)


NO_OBJECTS_VERSION = "1"
"""The resourceVersion of an etcd in which nothing has been stored yet, and so of no object."""


async def apply_new(run: Execution, manifest: Manifest) -> Manifest:
    """Applies a manifest of an object that must not exist yet. Raises `WriteConflict` or `FieldConflict` if one of its name does.

    An apply also changes an object that another client has created meanwhile, and a plain create leaves fields that the next apply would
    have to take over. But API servers compare the resourceVersion of an apply with that of the existing object only, and create the object
    if there is none: so that of no object means that there must be none.
    """
    bound = {**manifest["metadata"], "resourceVersion": NO_OBJECTS_VERSION}
    return await apply_manifest(run, {**manifest, "metadata": bound}, force=False)


async def apply_to_live(run: Execution, desired: Desired, intent: Manifest, live: Manifest, *, force: bool, exact: bool) -> Manifest:
    """Applies an intent to this live object and no other: the request includes its UID, and if `exact` its resourceVersion.

    With `force` the intent is known to take fields, from managers whose fields may be taken. Raises `UnresolvedConflicts` on others.

    The server takes all fields in conflict or none. To take those of some managers only, the conflicts are checked first, and then
    exactly this version of the object is applied with force.
    """
    may = {*run.plan.intent.may_take_from(desired.policy)}
    if not force:
        try:
            return await apply_manifest(run, _bound_to(intent, live, exact=exact), force=False)
        except FieldConflict as error:
            conflicts = conflicts_of(error, live)
        if not all(_may_be_taken(run, conflict.owner.manager, may) for conflict in conflicts):
            raise UnresolvedConflicts(conflicts)
    return await apply_manifest(run, _bound_to(intent, live, exact=exact or "*" not in may), force=True)


def _may_be_taken(run: Execution, manager: str, may: set[str]) -> bool:
    """Reports whether a manager's fields may be taken. In a dry run, which has taken over nothing before, so may those to take over."""
    return "*" in may or manager in may or (run.options.dry_run and manager in (*run.plan.intent.take_over, run.manager))


def _bound_to(manifest: Manifest, live: Manifest, *, exact: bool) -> Manifest:
    """Returns the manifest with the UID of this object, and if `exact` its resourceVersion; the server rejects it for any other."""
    bound: dict[str, Any] = {"uid": uid_of(live)}
    if exact:
        bound["resourceVersion"] = resource_version_of(live)
    return {**manifest, "metadata": {**manifest["metadata"], **bound}}


async def with_owner_uid(run: Execution, desired: Desired, manifest: Manifest) -> Manifest:
    """Returns a manifest of the object with the UID of its owner. Raises `OwnerMissing` if the owner does not exist."""
    owner = desired.owner
    if owner is None or not refers_to(manifest, owner):
        return manifest
    if owner not in run.uids:
        run.uids[owner] = await _uid_of_owner(run, manifest, owner)
    return with_owner(manifest, owner, run.uids[owner])


async def _uid_of_owner(run: Execution, manifest: Manifest, owner: Ref) -> str:
    """Reads the UID of an owner outside the graph. Raises `OwnerMissing`."""
    entry = next(entry for entry in manifest["metadata"]["ownerReferences"] if is_reference_to(entry, owner))
    live = await run.read(owner, Kind.read(str(entry["apiVersion"]), owner.kind))
    if live is None or is_terminating(live):
        raise OwnerMissing(f"its owner {owner} {'does not exist' if live is None else 'is being deleted'}")
    return uid_of(live)


async def repair_ownership(run: Execution, desired: Desired, resource: Resource, live: Manifest) -> Manifest:
    """Takes over the fields that the plan takes over, and repairs managedFields; returns the resulting object.

    Returns the same object if there is nothing to do. Raises `WriteConflict` if it has changed since it was read.
    """
    # The repair comes first: on a write the server drops entries of versions that it no longer serves, and their fields lose their owner.
    live = await _patch(run, resource, live, rewrite_old_versions(live, await _served(run, resource, live)))
    return await _patch(run, resource, live, ownership_patch(live, run.manager_of(desired.ref), run.plan.intent.taken_over(desired.policy)))


async def empty_first(
    run: Execution, resource: Resource, intent: Manifest, live: Manifest, emptied: list[Emptied]
) -> tuple[Manifest, Manifest]:
    """Empties maps for which an apply would store null; returns the intent and the resulting object. Raises `WriteConflict`.

    A dry run, which has emptied nothing before, applies the intent without them.
    """
    if run.options.dry_run:
        return without_emptied(intent, emptied), live
    return intent, await _patch(run, resource, live, emptying_patch(live, emptied))


async def _served(run: Execution, resource: Resource, live: Manifest) -> set[str]:
    """Returns the API versions in an object's managedFields that the server serves.

    Versions of other groups count as served: they belong to subresources, like `autoscaling/v1` to scale.
    """
    served = set()
    for version in {str(entry.get("apiVersion")) for entry in entries_of(live)}:
        kind = Kind.read(version, resource.kind.kind)
        with suppress(UnknownKind):
            if kind != resource.kind and kind.group == resource.kind.group:
                await run.cluster.resource(kind)
            served.add(version)
    return served


async def _patch(run: Execution, resource: Resource, live: Manifest, patch: Patch) -> Manifest:
    """Patches an object and returns the result; in a dry run, what it would be."""
    if not patch:
        return live
    if run.options.dry_run:
        return after_takeover(live, patch)
    ref = Ref.of(live)
    try:
        return await run.request(partial(run.cluster.patch, resource, ref.namespace, ref.name, patch, manager=run.manager))
    except Invalid as error:  # the server's answer when a `test` operation of a JSON patch fails
        raise WriteConflict(409, "Conflict", f"{ref} has changed meanwhile: {error}") from None


async def delete_and_wait(run: Execution, live: Manifest) -> Manifest | None:
    """Deletes an object and waits until it is gone; returns the object that has its name then, if any. Raises `DeletionPending`.

    An object that is gone already, or that another one has replaced, is no error.
    """
    ref, resource = Ref.of(live), await run.cluster.resource(Kind.of(live))
    for left in reversed(range(run.options.timeouts.decisions)):
        try:
            with suppress(NotFound, WriteConflict):
                await run.request(
                    partial(run.cluster.delete, resource, ref.namespace, ref.name, uid=uid_of(live), dry_run=run.options.dry_run)
                )
            break
        except Unreachable as error:
            if not error.maybe_done or not left:
                raise
        now = await run.read(ref, resource.kind)
        if now is None or uid_of(now) != uid_of(live) or is_terminating(now):
            break
    # Waits even if the run is stopped: an object that we delete and do not create again would be missing.
    return await wait_until_gone(run, live, stop=Stop())


async def wait_until_gone(run: Execution, live: Manifest, *, stop: Stop) -> Manifest | None:
    """Waits until an object that is being deleted is gone; returns the object that has its name then, if any.

    Raises `DeletionPending`, and `Stopped` when the run is stopped. Does not wait in a dry run, which deletes nothing.
    """
    ref, kind, uid = Ref.of(live), Kind.of(live), uid_of(live)
    if run.options.dry_run:
        return None
    async for _ in poll(run.options.timeouts, stop, run.options.timeouts.gone):
        now = await run.read(ref, kind)
        if now is None or uid_of(now) != uid:
            return now
        live = now
    if not is_terminating(live):
        raise DeletionPending(f"could not be deleted within {run.options.timeouts.gone:g} s")
    raise DeletionPending(f"{being_deleted(live)}; the next run after its deletion recreates it")
