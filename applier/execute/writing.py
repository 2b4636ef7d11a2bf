"""One step carried out: written, looked at again when somebody else was there first, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from applier.decision import prepared
from applier.decision.managers import applied_by, entries_of
from applier.desired import Desired
from applier.errors import AlreadyExists, ClusterError, FieldConflict, Invalid, Unreachable, WriteConflict
from applier.execute.applying import Blocked, apply, apply_over, is_same, passing
from applier.execute.gone import gone, remove
from applier.execute.now import decide_again, owned
from applier.execute.ownership import put_right
from applier.execute.refusals import is_immutable, is_other_object
from applier.execute.state import Run
from applier.outcome import QUIET, WRITTEN, Action, Conflict, Step
from applier.plan.reasons import RECREATE, listed, makers, what_conflicts
from applier.ref import Kind, Manifest, uid_of
from applier.terminating import being_deleted, is_being_deleted


class Written(NamedTuple):
    """What a step came to, why, the object as it is now where that is known, and who was in the way."""

    action: Action
    reason: str = ""
    live: Manifest | None = None
    conflicts: Sequence[Conflict] = ()


class Moved(Exception):
    """Somebody else wrote to the object, so that the step has to be decided again. `cause` is what the server said."""

    def __init__(self, cause: ClusterError) -> None:
        self.cause = cause
        super().__init__(str(cause))


async def carry_out(run: Run, desired: Desired, step: Step) -> Written:
    """Does what a step says. Raises `ClusterError`, `StillThere` and `NoOwner`.

    When the object has changed since the step was decided on, it is read and decided on again, a limited number of times. A request of
    unknown fate is settled in the same way: if reading shows what was wanted, it was done.
    """
    live, meant, made = run.plan.found.get(desired.ref), step.action, False
    for _ in range(run.patience.decisions):
        try:
            written = await _write(run, desired, step, live)
            return written._replace(action=meant) if made and written.action is Action.CONFIGURED else written
        except Moved as moved:
            cause = moved.cause
        live = await run.read(desired.ref, Kind.of(desired.manifest))
        step = await decide_again(run, desired, live)
        if step.action not in WRITTEN:
            lost = isinstance(cause, Unreachable) and step.action in QUIET
            return (
                Written(meant, "no answer came, but it was done", live) if lost else Written(step.action, step.reason, live, step.conflicts)
            )
        made = made or (isinstance(cause, Unreachable) and meant is Action.CREATED and live is not None and applied_by(live, run.manager))
        if run.exact and not (made or (isinstance(cause, Unreachable) and (meant is not Action.CREATED or live is None))):
            return Written(Action.HELD, f"has changed since the plan was made: {cause}", live)
    raise cause


async def _write(run: Run, desired: Desired, step: Step, live: Manifest | None) -> Written:
    """One try. Raises `Moved` when the object is not what the step was decided on."""
    try:
        if step.action is Action.CREATED or live is None:
            return await _create(run, desired, live)
        return await _configure(run, desired, live)
    except (WriteConflict, AlreadyExists, FieldConflict) as error:
        raise Moved(error) from None
    except Unreachable as error:
        if error.maybe_done:
            raise Moved(error) from None
        raise


async def _create(run: Run, desired: Desired, old: Manifest | None) -> Written:
    """Makes an object, once the old one of its name, which is being deleted, is gone."""
    if old is not None and (other := await gone(run, old, stop=run.stop)) is not None:
        raise Moved(AlreadyExists(409, "AlreadyExists", f"{desired.ref} was made again by {makers(other)}"))
    kind, policy = Kind.of(desired.manifest), desired.policy
    manifest = prepared(await owned(run, desired), await run.schema(kind))
    if policy.adopt and not policy.create_only and not run.exact:
        return _created(run, await apply(run, manifest, force=False))
    resource = await run.cluster.resource(kind)
    create = partial(run.cluster.create, resource, manifest, manager=run.manager, dry_run=run.dry_run)
    made = await passing(run, create, kind)
    after = made if policy.create_only or run.dry_run else await _made_good(run, desired, manifest, made)
    run.learn(after)
    return Written(Action.CREATED, "", after)


async def _made_good(run: Run, desired: Desired, manifest: Manifest, made: Manifest) -> Manifest:
    """A plain create records an update, not an apply. Made good at once, or the next run would have to.

    Controllers may write to the object as soon as it is there: it is read again then. When others have already changed what we set, it
    is left as it is.
    """
    live, resource = made, await run.cluster.resource(Kind.of(manifest))
    for _ in range(run.patience.decisions):
        try:
            live = await put_right(run, resource, live)
            return await apply_over(run, desired, manifest, live, exact=False)
        except Blocked:
            return live
        except WriteConflict as error:
            conflict = error
        found = await run.read(desired.ref, resource.kind)
        if found is None or uid_of(found) != uid_of(made):
            break
        live = found
    raise conflict


def _created(run: Run, after: Manifest) -> Written:
    """Whether we made the object: if others own fields of it, it was there before us, and was only changed."""
    others = listed(name for entry in entries_of(after) if (name := str(entry.get("manager"))) != run.manager)
    run.learn(after)
    return Written(Action.CONFIGURED, f"was made meanwhile by {others}", after) if others else Written(Action.CREATED, "", after)


async def _configure(run: Run, desired: Desired, before: Manifest) -> Written:
    """Applies over what is there; makes the object again where that cannot be done and may be."""
    manifest = await owned(run, desired)
    resource = await run.cluster.resource(Kind.of(manifest))
    live = await put_right(run, resource, before)
    try:
        after = await apply_over(run, desired, manifest, live, exact=run.exact)
    except Blocked as blocked:
        return Written(Action.HELD, what_conflicts(blocked.conflicts), live, blocked.conflicts)
    except Invalid as error:
        if is_other_object(error):
            raise Moved(error) from None
        if not is_immutable(error):
            raise
        if not desired.policy.recreate:
            return Written(Action.HELD, f"{error}; {RECREATE}", live)
        return await _recreate(run, desired, live, str(error))
    if is_being_deleted(after):
        raise Moved(WriteConflict(409, "Conflict", f"{desired.ref} {being_deleted(after)}"))
    run.learn(after)
    return Written(Action.UNCHANGED if is_same(run, before, after) else Action.CONFIGURED, "", after)


async def _recreate(run: Run, desired: Desired, live: Manifest, why: str) -> Written:
    """Deletes this very object, waits until it is gone, and makes it again. A crash in between leaves one that the next run creates."""
    other = await remove(run, live)
    if other is not None:
        raise Moved(AlreadyExists(409, "AlreadyExists", f"{desired.ref} was made again by {makers(other)}"))
    if run.dry_run:
        return Written(Action.RECREATED, why, live)
    made = await _create(run, desired, None)
    return Written(Action.RECREATED, why, made.live)
