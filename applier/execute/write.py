"""One step carried out: written, looked at again when somebody else was there first, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from applier.decision import hide_secrets, prepared
from applier.decision.intent import revealed
from applier.decision.managers import applied_by, entries_of
from applier.desired import Desired
from applier.errors import AlreadyExists, ClusterError, FieldConflict, Invalid, Unreachable, WriteConflict
from applier.execute.refusals import is_immutable, is_other_object
from applier.execute.requests import Blocked, Run, gone, owned, put_right, remove, send, send_over
from applier.outcome import QUIET, WRITTEN, Action, Conflict, Step
from applier.plan.planner import step_for
from applier.plan.reasons import RECREATE, listed, makers, what_conflicts
from applier.ref import Kind, Manifest, being_deleted, is_being_deleted, resource_version_of, uid_of


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
    # `made` remembers that a create whose answer was lost was ours: what is found then is not somebody else's.
    live, meant, made = run.plan.live.get(desired.ref), step.action, False
    if live is not None and step.action is not Action.CREATED and step.intent is None:
        step = await decide_again(run, desired, live)
        if step.action not in WRITTEN:
            return Written(step.action, step.reason, live, step.conflicts)
    for _ in range(run.options.timeouts.decisions):
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
        if run.options.exact and not (made or (isinstance(cause, Unreachable) and (meant is not Action.CREATED or live is None))):
            return Written(Action.HELD, f"has changed since the plan was made: {cause}", live)
    raise cause


async def decide_again(run: Run, desired: Desired, live: Manifest | None) -> Step:
    """Returns what is to be done with an object, given what was just read. `live` is as the server gave it, values of Secrets included.

    Raises `NoOwner` when it has to name an owner that is not there.
    """
    if live is None:
        return Step(desired.ref, Action.CREATED)
    await owned(run, desired, desired.manifest)  # so that the UID of its owner is known
    schema = await run.schema(Kind.of(desired.manifest))
    uid = run.uids.get(desired.owner, "") if desired.owner is not None else ""
    return step_for(desired, hide_secrets(live), schema, run.plan.intent, uid)


async def _write(run: Run, desired: Desired, step: Step, live: Manifest | None) -> Written:
    """Tries once. Raises `Moved` when the object is not what the step was decided on."""
    try:
        if step.action is Action.CREATED or live is None:
            return await _create(run, desired, live)
        return await _configure(run, desired, step, live)
    except (WriteConflict, AlreadyExists, FieldConflict) as error:
        raise Moved(error) from None
    except Unreachable as error:
        if error.maybe_done:
            raise Moved(error) from None
        raise


async def _create(run: Run, desired: Desired, old: Manifest | None) -> Written:
    """Makes an object, once the old one of its name, which is being deleted, is gone."""
    if old is not None and (other := await gone(run, old, stop=run.options.stop)) is not None:
        raise _made_again(desired, other)
    kind, policy = Kind.of(desired.manifest), desired.policy
    manifest = prepared(await owned(run, desired, desired.manifest), await run.schema(kind))
    # A server-side apply creates and changes with one verb, so that whoever may not take over what somebody made meanwhile cannot use it:
    # a plain create is refused then (AlreadyExists).
    if policy.adopt and not policy.create_only and not run.options.exact:
        made: list[bool] = []
        after = await send(run, manifest, force=False, on_created=lambda: made.append(True))
        return _created(run, after, is_new=bool(made))
    resource = await run.cluster.resource(kind)
    create = partial(run.cluster.create, resource, manifest, manager=run.manager, dry_run=run.options.dry_run)
    first = await run.write(create, kind)
    after = first if policy.create_only or run.options.dry_run else await _made_good(run, desired, manifest, first)
    run.learn(after)
    return Written(Action.CREATED, "", after)


async def _made_good(run: Run, desired: Desired, manifest: Manifest, made: Manifest) -> Manifest:
    """Returns a plain create records an update, not an apply. Made good at once, or the next run would have to.

    Controllers may write to the object as soon as it is there: it is read again then. When others have already changed what we set, it
    is left as it is.
    """
    live, resource = made, await run.cluster.resource(Kind.of(manifest))
    for _ in range(run.options.timeouts.decisions):
        try:
            live = await put_right(run, resource, live)
            return await send_over(run, desired, manifest, live, force=False, exact=False)
        except Blocked:
            return live
        except WriteConflict as error:
            conflict = error
        now = await run.read(desired.ref, resource.kind)
        if now is None or uid_of(now) != uid_of(made):
            break
        live = now
    raise conflict


def _created(run: Run, after: Manifest, *, is_new: bool) -> Written:
    """Tells whether we made the object, or somebody was faster and it was only changed.

    Two runs of one name would both say that they made it.
    """
    run.learn(after)
    others = listed(name for entry in entries_of(after) if (name := str(entry.get("manager"))) != run.manager)
    if is_new and not others:
        return Written(Action.CREATED, "", after)
    return Written(Action.CONFIGURED, f"was made meanwhile by {others or f'another run of {run.manager}'}", after)


async def _configure(run: Run, desired: Desired, step: Step, before: Manifest) -> Written:
    """Applies over what is there; makes the object again where that cannot be done and may be."""
    if step.patch:
        return await _follow(run, step, before)
    intent = await owned(run, desired, revealed(step.intent or desired.manifest, desired.manifest))
    live = await put_right(run, await run.cluster.resource(Kind.of(intent)), before)
    try:
        after = await send_over(run, desired, intent, live, force=step.force, exact=run.options.exact)
    except Blocked as blocked:
        return Written(Action.HELD, what_conflicts(blocked.conflicts), live, blocked.conflicts)
    except Invalid as error:
        if is_other_object(error):
            raise Moved(error) from None
        if not is_immutable(error):
            raise
        # Only now, after the server has refused the change: the forecast of `applier.plan.immutable` alone never deletes anything.
        if not desired.policy.recreate:
            return Written(Action.HELD, f"{error}; {RECREATE}", live)
        return await _recreate(run, desired, live, str(error))
    if is_being_deleted(after):
        raise Moved(WriteConflict(409, "Conflict", f"{desired.ref} {being_deleted(after)}"))
    run.learn(after)
    return Written(Action.UNCHANGED if _is_same(run, before, after) else Action.CONFIGURED, "", after)


async def _follow(run: Run, step: Step, before: Manifest) -> Written:
    """Patches what follows the graph in this very object. Raises `Moved` when it is another one by now, or differs where it matters."""
    resource = await run.cluster.resource(Kind.of(before))
    patch = [{"op": "test", "path": "/metadata/uid", "value": uid_of(before)}, *step.patch]
    write = partial(run.cluster.patch, resource, step.ref.namespace, step.ref.name, patch, manager=run.manager, dry_run=run.options.dry_run)
    try:
        after = await run.ask(write)
    except Invalid as error:
        if not error.causes:  # a test that failed; what the server finds wrong with the result has causes
            raise Moved(error) from None
        raise
    run.learn(after)
    return Written(Action.CONFIGURED, "", after)


async def _recreate(run: Run, desired: Desired, live: Manifest, why: str) -> Written:
    """Deletes this very object, waits until it is gone, and makes it again. A crash in between leaves one that the next run creates."""
    other = await remove(run, live)
    if other is not None:
        raise _made_again(desired, other)
    if run.options.dry_run:
        return Written(Action.RECREATED, why, live)
    made = await _create(run, desired, None)
    return Written(Action.RECREATED, why, made.live)


def _made_again(desired: Desired, other: Manifest) -> Moved:
    return Moved(AlreadyExists(409, "AlreadyExists", f"{desired.ref} was made again by {makers(other)}"))


def _is_same(run: Run, before: Manifest, after: Manifest) -> bool:
    """Says whether a write changed nothing. A dry run gives no new resource version, so that there the objects are compared."""
    if not run.options.dry_run:
        return resource_version_of(before) == resource_version_of(after)
    return bool(_content(hide_secrets(before)) == _content(hide_secrets(after)))


def _content(manifest: Manifest) -> Any:
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in ("resourceVersion", "managedFields", "generation")}
    entries = [{**entry, "time": ""} for entry in manifest["metadata"].get("managedFields") or ()]
    return {**manifest, "metadata": metadata}, entries
