"""Deleting one object, that one and no other, and waiting until it is gone."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from applier.errors import NotFound, Unreachable, WriteConflict
from applier.execute.patience import Stop, looks
from applier.execute.state import Run
from applier.ref import Kind, Manifest, Ref, uid_of
from applier.terminating import being_deleted, is_being_deleted


class StillThere(Exception):
    """A deleted object that does not go; the text says what it waits for."""


async def remove(run: Run, live: Manifest) -> Manifest | None:
    """Deletes an object and waits until it is gone; gives what has its name then, None for nothing. Raises `StillThere`.

    An object that is gone already, or whose place another one has taken, is not an error: it is what was wanted.
    """
    for left in reversed(range(run.patience.decisions)):
        try:
            await _delete(run, live)
            break
        except Unreachable as error:
            if not error.maybe_done or not left:
                raise
        now = await run.read(Ref.of(live), Kind.of(live))
        if now is None or uid_of(now) != uid_of(live) or is_being_deleted(now):
            break
    # Who stops a run wants what is begun to be finished: an object that we deleted and did not make again would be missing.
    return await gone(run, live, stop=Stop())


async def _delete(run: Run, live: Manifest) -> None:
    """Asks for one deletion. What is gone already, or is another object by now, needs none."""
    ref, resource = Ref.of(live), await run.cluster.resource(Kind.of(live))
    with suppress(NotFound, WriteConflict):
        await run.ask(partial(run.cluster.delete, resource, ref.namespace, ref.name, uid=uid_of(live), dry_run=run.dry_run))


async def gone(run: Run, live: Manifest, *, stop: Stop) -> Manifest | None:
    """Waits until an object that is being deleted is gone; gives what has its name then, None for nothing.

    Raises `StillThere`, and `Stopped` when the run is to end. A dry run does not wait for what was not deleted.
    """
    ref, kind, uid = Ref.of(live), Kind.of(live), uid_of(live)
    if run.dry_run:
        return None
    async for _ in looks(run.patience, stop, run.patience.gone):
        now = await run.read(ref, kind)
        if now is None or uid_of(now) != uid:
            return now
        live = now
    if not is_being_deleted(live):
        raise StillThere(f"could not be deleted within {run.patience.gone:g} s")
    raise StillThere(f"{being_deleted(live)}; it is made again by a run that finds it gone")
