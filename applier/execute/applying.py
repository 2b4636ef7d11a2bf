"""One server-side apply: what is asked of the server along with it, and what is tried again before it counts as refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from applier.decision import hide_secrets
from applier.desired import Desired
from applier.errors import ClusterError, FieldConflict
from applier.execute.ownership import repair
from applier.execute.patience import looks
from applier.execute.refusals import conflicts_of, is_passing, names_stale_version
from applier.execute.state import Run
from applier.outcome import Conflict
from applier.ref import Kind, Manifest, resource_version_of, uid_of


class Blocked(Exception):
    """Others own fields that we want to set, and may not be overruled."""

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        self.conflicts = conflicts
        super().__init__()


def forced(run: Run, desired: Desired) -> tuple[str, ...]:
    """The managers whose fields may be taken from them; `*` stands for all."""
    return (*run.plan.intent.force, *desired.policy.force)


async def apply(run: Run, manifest: Manifest, *, force: bool) -> Manifest:
    """Applies a manifest; the object as it is then."""
    resource = await run.resource(Kind.of(manifest))
    call = lambda: run.cluster.apply(resource, manifest, manager=run.manager, force=force, dry_run=run.dry_run)  # noqa: E731
    return await passing(run, manifest, call)


async def passing(run: Run, manifest: Manifest, call: Callable[[], Awaitable[Manifest]]) -> Manifest:
    """Makes a request, and again for a while when it is refused for what controllers are about to put right."""
    refused: ClusterError | None = None
    async for _ in looks(run.patience, run.stop, run.patience.passing):
        try:
            return await run.ask(call)
        except ClusterError as error:
            if not is_passing(error, defined=Kind.of(manifest) in run.made) or run.dry_run:
                raise
            refused = error
    assert refused is not None
    raise refused


async def apply_over(run: Run, desired: Desired, manifest: Manifest, live: Manifest) -> Manifest:
    """Applies over an object that is there, and over no other: its UID goes along. Raises `Blocked` on conflicts that stand.

    The server takes all fields in conflict or none. To take those of some managers only, they are looked at first, and then this very
    version of the object is forced.
    """
    may = forced(run, desired)
    try:
        return await _repairing(run, manifest, live, force="*" in may)
    except FieldConflict as error:
        conflicts = conflicts_of(error)
    if not all(conflict.owner.manager in may or _is_ours_soon(run, conflict) for conflict in conflicts):
        raise Blocked(conflicts)
    return await apply(run, _bound_to(manifest, live, exact=True), force=True)


def _is_ours_soon(run: Run, conflict: Conflict) -> bool:
    """In a dry run nothing has been taken over, so that those managers are still in the way."""
    return run.dry_run and conflict.owner.manager in run.plan.intent.take_over


async def _repairing(run: Run, manifest: Manifest, live: Manifest, *, force: bool) -> Manifest:
    """Applies; once more after ownership recorded in a version that is not served was moved to ours."""
    try:
        return await apply(run, _bound_to(manifest, live, exact=run.exact), force=force)
    except ClusterError as error:
        if not names_stale_version(error):
            raise
        mended = await repair(run, await run.resource(Kind.of(manifest)), live)
        if mended is live:
            raise
    return await apply(run, _bound_to(manifest, mended, exact=run.exact), force=force)


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
    return _content(before) in (_content(after), _content(hide_secrets(after)))


def _content(manifest: Manifest) -> Any:
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in ("resourceVersion", "managedFields", "generation")}
    entries = [{**entry, "time": ""} for entry in manifest["metadata"].get("managedFields") or ()]
    return {**manifest, "metadata": metadata}, entries
