"""Server-side apply of one object: what goes along with it, and what is tried again before it counts as refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from applier.decision import Verdict, decide, hide_secrets
from applier.desired import Desired
from applier.errors import ClusterError, FieldConflict
from applier.execute.patience import pauses
from applier.execute.refusals import conflicts_of, is_passing
from applier.execute.state import Run
from applier.outcome import Conflict
from applier.plan.membership import staying
from applier.ref import Kind, Manifest, resource_version_of, uid_of

OVER = object()


class Blocked(Exception):
    """Others own fields that we want to set, and may not be overruled."""

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        self.conflicts = conflicts
        super().__init__()


async def apply(run: Run, manifest: Manifest, *, force: bool) -> Manifest:
    """Applies a manifest; the object as it is then."""
    resource = await run.cluster.resource(Kind.of(manifest))
    return await passing(
        run, partial(run.cluster.apply, resource, manifest, manager=run.manager, force=force, dry_run=run.dry_run), resource.kind
    )


async def passing(run: Run, call: Callable[[], Awaitable[Manifest]], kind: Kind) -> Manifest:
    """Makes a request, and again for a while when it is refused for what controllers are about to put right."""
    waits: AsyncIterator[None] | None = None  # made when it is needed, which is next to never
    while True:
        try:
            return await run.ask(call)
        except ClusterError as error:
            if run.dry_run or not is_passing(error, defined=(kind.group, kind.kind) in run.defined):
                raise
            waits = waits or pauses(run.patience, run.stop, run.patience.passing)
            if await anext(waits, OVER) is OVER:
                raise


async def apply_over(run: Run, desired: Desired, manifest: Manifest, live: Manifest, *, exact: bool) -> Manifest:
    """Applies over an object that is there, and over no other: its UID goes along, and when `exact` its version.

    Raises `Blocked` on conflicts that stand.

    The server takes all fields in conflict or none. To take those of some managers only, they are looked at first, and then this very
    version of the object is forced.
    """
    may = {*run.plan.intent.force, *desired.policy.force}
    schema = await run.schema(Kind.of(manifest))
    manifest = staying(manifest, live, run.manager)
    decision = decide(manifest, live, schema, manager=run.manager, yields=desired.policy.yields, force=may)
    if decision.verdict is Verdict.CONFLICT:
        raise Blocked(decision.conflicts)
    forced = partial(apply, run, _bound_to(decision.intent, live, exact=exact or "*" not in may), force=True)
    if decision.force:
        return await forced()
    try:
        return await apply(run, _bound_to(decision.intent, live, exact=exact), force=False)
    except FieldConflict as error:
        conflicts = conflicts_of(error, live)
    if not all(_may_be_taken(run, conflict.owner.manager, may) for conflict in conflicts):
        raise Blocked(conflicts)
    return await forced()


def _may_be_taken(run: Run, manager: str, may: set[str]) -> bool:
    """In a dry run nothing has been taken over, so that those managers are still in the way."""
    return "*" in may or manager in may or (run.dry_run and manager in (*run.plan.intent.take_over, run.manager))


def _bound_to(manifest: Manifest, live: Manifest, *, exact: bool) -> Manifest:
    """The manifest for this object only, and for this version of it when `exact`. Anything else is a `WriteConflict`."""
    bound: dict[str, Any] = {"uid": uid_of(live)}
    if exact:
        bound["resourceVersion"] = resource_version_of(live)
    return {**manifest, "metadata": {**manifest["metadata"], **bound}}


def is_same(run: Run, before: Manifest, after: Manifest) -> bool:
    """Says whether a write changed nothing. A dry run gives no new resource version, so that there the objects are compared."""
    if not run.dry_run:
        return resource_version_of(before) == resource_version_of(after)
    return bool(_content(hide_secrets(before)) == _content(hide_secrets(after)))


def _content(manifest: Manifest) -> Any:
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in ("resourceVersion", "managedFields", "generation")}
    entries = [{**entry, "time": ""} for entry in manifest["metadata"].get("managedFields") or ()]
    return {**manifest, "metadata": metadata}, entries
