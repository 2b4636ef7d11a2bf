"""The requests that a run makes for its objects, and what all its steps share.

What is tried again before it counts as refused is here, too; what a refusal means for a step is for `applier.execute.write` to say.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from applier.cluster import Cluster, Resource, find
from applier.decision import Schemas, Type, rewrite_old_versions
from applier.decision.managers import Patch, after_takeover, entries_of, ownership_patch
from applier.desired import Desired, Graph
from applier.errors import ApplierError, ClusterError, FieldConflict, Invalid, NotFound, UnknownKind, Unreachable, WriteConflict
from applier.execute.concurrency import Concurrency
from applier.execute.options import ExecuteOptions, backoff, poll
from applier.execute.refusals import conflicts_of, is_passing
from applier.outcome import Action, Conflict, Outcome
from applier.plan import Plan
from applier.plan.order import defined_kinds
from applier.ref import (
    GroupKind,
    Kind,
    Manifest,
    Ref,
    being_deleted,
    is_being_deleted,
    names,
    refers_to,
    resource_version_of,
    uid_of,
    with_owner,
)
from applier.stop import Stop

T = TypeVar("T")
OVER = object()


class Blocked(Exception):
    """Others own fields that we want to set, and may not be overruled."""

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        self.conflicts = conflicts
        super().__init__()


class NoOwner(ApplierError):
    """The owner of an object is not there, so that the object cannot be made."""


class StillThere(Exception):
    """A deleted object that does not go; the text says what it waits for."""


@dataclass(slots=True, eq=False)
class Run:
    """One carrying out of a plan.

    `outcomes` and `uids` grow as objects are settled. `causes` holds, for what waits, the first cause of its waiting; `defined` the
    definitions of the graph, by what they define.
    """

    plan: Plan
    graph: Graph
    cluster: Cluster
    options: ExecuteOptions = field(default_factory=ExecuteOptions)
    outcomes: dict[Ref, Outcome] = field(default_factory=dict)
    uids: dict[Ref, str] = field(default_factory=dict)
    causes: dict[Ref, Ref] = field(default_factory=dict)
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
        """The field manager under which everything is written."""
        return self.plan.intent.manager

    def is_new(self, ref: Ref) -> bool:
        """Says whether an object was made in this run."""
        outcome = self.outcomes.get(ref)
        return outcome is not None and outcome.action in (Action.CREATED, Action.RECREATED)

    def learn(self, manifest: Manifest) -> None:
        """Hands on what the server has just answered."""
        if self.options.after_write is not None:
            self.options.after_write(manifest)

    async def ask(self, call: Callable[[], Awaitable[T]]) -> T:
        """Makes one request within the limit."""
        return await self.limit.run(call, self.options.group)

    async def read(self, ref: Ref, kind: Kind) -> Manifest | None:
        """Reads the object as it is now; None when there is none."""
        resource = await self.cluster.resource(kind)
        return await self.ask(lambda: find(self.cluster, resource, ref.namespace, ref.name))

    async def schema(self, kind: Kind) -> Type | None:
        """Returns the schema of a kind; of one that came with the graph, as soon as it is served."""
        known = self.plan.schemas.get(kind) or self.schemas.get(kind)
        if known is None and kind not in self.schemas:
            fresh: Schemas = await self.cluster.schemas([kind])
            known = self.schemas[kind] = fresh.get(kind)
        return known

    async def write(self, call: Callable[[], Awaitable[Manifest]], kind: Kind) -> Manifest:
        """Makes a request, and again for a while when it is refused for what controllers are about to put right."""
        waits: AsyncIterator[None] | None = None  # made when it is needed, which is next to never
        while True:
            try:
                return await self.ask(call)
            except ClusterError as error:
                if self.options.dry_run or not is_passing(error, defined=(kind.group, kind.kind) in self.defined):
                    raise
                waits = waits or backoff(self.options.timeouts, self.options.stop, self.options.timeouts.passing)
                if await anext(waits, OVER) is OVER:
                    raise


async def send(run: Run, manifest: Manifest, *, force: bool, on_created: Callable[[], None] | None = None) -> Manifest:
    """Applies a manifest on the server; the object as it is then. `on_created` is told when this has made it."""
    resource = await run.cluster.resource(Kind.of(manifest))
    call = partial(
        run.cluster.apply, resource, manifest, manager=run.manager, force=force, dry_run=run.options.dry_run, on_created=on_created
    )
    return await run.write(call, resource.kind)


async def send_over(run: Run, desired: Desired, intent: Manifest, live: Manifest, *, force: bool, exact: bool) -> Manifest:
    """Applies over an object that is there, and over no other: its UID goes along, and when `exact` its version.

    `force` says that fields are known to be taken from managers that may be taken from. Raises `Blocked` on conflicts that stand.

    The server takes all fields in conflict or none. To take those of some managers only, they are looked at first, and then this very
    version of the object is forced.
    """
    may = {*run.plan.intent.force, *desired.policy.force}
    if not force:
        try:
            return await send(run, _bound_to(intent, live, exact=exact), force=False)
        except FieldConflict as error:
            conflicts = conflicts_of(error, live)
        if not all(_may_be_taken(run, conflict.owner.manager, may) for conflict in conflicts):
            raise Blocked(conflicts)
    return await send(run, _bound_to(intent, live, exact=exact or "*" not in may), force=True)


def _may_be_taken(run: Run, manager: str, may: set[str]) -> bool:
    """Tells whether fields may be taken. In a dry run nothing has been taken over, so that those managers are still in the way."""
    return "*" in may or manager in may or (run.options.dry_run and manager in (*run.plan.intent.take_over, run.manager))


def _bound_to(manifest: Manifest, live: Manifest, *, exact: bool) -> Manifest:
    """Returns the manifest for this object only, and for this version of it when `exact`. Anything else is a `WriteConflict`."""
    bound: dict[str, Any] = {"uid": uid_of(live)}
    if exact:
        bound["resourceVersion"] = resource_version_of(live)
    return {**manifest, "metadata": {**manifest["metadata"], **bound}}


async def owned(run: Run, desired: Desired, manifest: Manifest) -> Manifest:
    """Returns a manifest of the object with the UID of its owner. Raises `NoOwner` when the owner is not there."""
    owner = desired.owner
    if owner is None or not refers_to(manifest, owner):
        return manifest
    if owner not in run.uids:
        run.uids[owner] = await _uid_of_owner(run, manifest, owner)
    return with_owner(manifest, owner, run.uids[owner])


async def _uid_of_owner(run: Run, manifest: Manifest, owner: Ref) -> str:
    """Reads an owner that is no part of the graph. One without a namespace is in the object's own, or in none."""
    entry = next(entry for entry in manifest["metadata"]["ownerReferences"] if names(entry, owner))
    live = await run.read(owner, Kind.read(str(entry["apiVersion"]), owner.kind))
    if live is None or is_being_deleted(live):
        raise NoOwner(f"its owner {owner} {'does not exist' if live is None else 'is being deleted'}")
    return uid_of(live)


async def put_right(run: Run, resource: Resource, live: Manifest) -> Manifest:
    """Makes ours what the plan takes over, and readable what the server would forget; the object as it is then.

    The same object when there is nothing to do. Raises `WriteConflict` when it has changed since it was read.
    """
    # First what the server would forget: it drops the entries of versions that it serves no longer, and their fields have no owner then.
    live = await _patch(run, resource, live, rewrite_old_versions(live, await _served(run, resource, live)))
    return await _patch(run, resource, live, ownership_patch(live, run.manager, run.plan.intent.take_over))


async def _served(run: Run, resource: Resource, live: Manifest) -> set[str]:
    """Returns, of the versions in an object's managedFields, those that are served.

    Only versions of the object's own group are looked at: others belong to subresources, like `autoscaling/v1` to scale.
    """
    served = set()
    for version in {str(entry.get("apiVersion")) for entry in entries_of(live)}:
        kind = Kind.read(version, resource.kind.kind)
        with suppress(UnknownKind):
            if kind != resource.kind and kind.group == resource.kind.group:
                await run.cluster.resource(kind)
            served.add(version)
    return served


async def _patch(run: Run, resource: Resource, live: Manifest, patch: Patch) -> Manifest:
    """Patches, and returns the object; in a dry run, where nothing is kept, as it would be."""
    if not patch:
        return live
    if run.options.dry_run:
        return after_takeover(live, patch)
    ref = Ref.of(live)
    try:
        return await run.ask(partial(run.cluster.patch, resource, ref.namespace, ref.name, patch, manager=run.manager))
    except Invalid as error:  # how a server says that a patch's test has failed
        raise WriteConflict(409, "Conflict", f"{ref} has changed meanwhile: {error}") from None


async def remove(run: Run, live: Manifest) -> Manifest | None:
    """Deletes an object and waits until it is gone; gives what has its name then, None for nothing. Raises `StillThere`.

    An object that is gone already, or whose place another one has taken, is not an error: it is what was wanted.
    """
    ref, resource = Ref.of(live), await run.cluster.resource(Kind.of(live))
    for left in reversed(range(run.options.timeouts.decisions)):
        try:
            with suppress(NotFound, WriteConflict):
                await run.ask(partial(run.cluster.delete, resource, ref.namespace, ref.name, uid=uid_of(live), dry_run=run.options.dry_run))
            break
        except Unreachable as error:
            if not error.maybe_done or not left:
                raise
        now = await run.read(ref, resource.kind)
        if now is None or uid_of(now) != uid_of(live) or is_being_deleted(now):
            break
    # Who stops a run wants what is begun to be finished: an object that we deleted and did not make again would be missing.
    return await gone(run, live, stop=Stop())


async def gone(run: Run, live: Manifest, *, stop: Stop) -> Manifest | None:
    """Waits until an object that is being deleted is gone; gives what has its name then, None for nothing.

    Raises `StillThere`, and `Stopped` when the run is to end. A dry run does not wait for what was not deleted.
    """
    ref, kind, uid = Ref.of(live), Kind.of(live), uid_of(live)
    if run.options.dry_run:
        return None
    async for _ in poll(run.options.timeouts, stop, run.options.timeouts.gone):
        now = await run.read(ref, kind)
        if now is None or uid_of(now) != uid:
            return now
        live = now
    if not is_being_deleted(live):
        raise StillThere(f"could not be deleted within {run.options.timeouts.gone:g} s")
    raise StillThere(f"{being_deleted(live)}; it is made again by a run that finds it gone")
