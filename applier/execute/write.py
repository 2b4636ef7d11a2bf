"""Executes one step: writes the object, and decides again if another client has changed it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from applier.decision import hide_secrets, prepared
from applier.decision.emptied import emptied_parts
from applier.decision.intent import revealed
from applier.decision.managers import applied_by, entries_of
from applier.desired import Desired
from applier.errors import AlreadyExists, ClusterError, FieldConflict, Invalid, NotFound, TakenBack, Unreachable, WriteConflict
from applier.execute.refusals import is_immutable, is_other_object
from applier.execute.requests import (
    Execution,
    UnresolvedConflicts,
    apply_manifest,
    apply_new,
    apply_to_live,
    delete_and_wait,
    empty_first,
    repair_ownership,
    wait_until_gone,
    with_owner_uid,
)
from applier.outcome import QUIET, WRITTEN, Action, Conflict, Obstacle, Step
from applier.plan.follow import LABELS, follow
from applier.plan.membership import controllers_of
from applier.plan.planner import step_for
from applier.plan.reasons import RECREATE, manager_names, what_conflicts, what_differs
from applier.ref import Kind, Manifest, Ref, being_deleted, resource_version_of, uid_of
from kube_objects.manifest import is_terminating
from kube_objects.words import listed

POD = ("", "Pod")


class WriteResult(NamedTuple):
    """Holds the result of a step: what was done and why, the object afterwards if it is known, and conflicts that prevented a write."""

    action: Action
    reason: str = ""
    live: Manifest | None = None
    conflicts: Sequence[Conflict] = ()
    obstacle: Obstacle = Obstacle.NONE


class ObjectChanged(Exception):
    """Reports that the object has changed, so that the step has to be decided again. `cause` is the server's error."""

    def __init__(self, cause: ClusterError) -> None:
        self.cause = cause
        super().__init__(str(cause))


async def execute_step(run: Execution, desired: Desired, step: Step) -> WriteResult:
    """Executes a step. Raises `ClusterError`, `DeletionPending` and `OwnerMissing`.

    If the object has changed since the step was decided on, it is read and decided on again, a limited number of times. So it is if the
    answer to a request was lost: if the object then is as desired, the request was carried out.
    """
    # `is_ours`: the object found after a create without an answer is the one that we created, and not another client's.
    live, planned, is_ours = run.plan.live.get(desired.ref), step.action, False
    if live is not None and step.action is not Action.CREATED and step.intent is None:
        step = await decide_again(run, desired, live)
        if step.action not in WRITTEN:
            return WriteResult(step.action, step.reason, live, step.conflicts, step.obstacle)
    for _ in range(run.options.timeouts.decisions):
        try:
            result = await _write(run, desired, step, live)
            if planned is Action.CREATED and result.action is Action.UNCHANGED and step.changes:
                return result._replace(action=Action.FAILED, reason=f"an admission webhook sets other values: {step.reason}")
            return result._replace(action=planned) if is_ours and result.action is Action.CONFIGURED else result
        except ObjectChanged as changed:
            cause = changed.cause
        live = await run.read(desired.ref, Kind.of(desired.manifest))
        step = await decide_again(run, desired, live)
        if step.action not in WRITTEN:
            if isinstance(cause, Unreachable) and step.action in QUIET:
                return WriteResult(planned, "no response was received, but the write was done", live)
            return WriteResult(step.action, step.reason, live, step.conflicts, step.obstacle)
        lost = isinstance(cause, Unreachable)  # the answer, not the request
        is_ours = is_ours or (lost and planned is Action.CREATED and live is not None and applied_by(live, run.manager_of(desired.ref)))
        if run.options.exact and not (is_ours or (lost and (planned is not Action.CREATED or live is None))):
            return WriteResult(Action.HELD, f"has changed since the plan was made: {cause}", live)
    raise cause


async def decide_again(run: Execution, desired: Desired, live: Manifest | None) -> Step:
    """Decides the step of an object again. `live` is the object as just read from the server, with values of Secrets.

    Raises `OwnerMissing` if it needs the UID of an owner that does not exist.
    """
    if live is None:
        return Step(desired.ref, Action.CREATED)
    await with_owner_uid(run, desired, desired.manifest)  # fills `run.uids` with the UID of its owner
    schema = await run.schema(Kind.of(desired.manifest))
    uid = run.uids.get(desired.owner, "") if desired.owner is not None else ""
    return step_for(desired, hide_secrets(live), schema, run.plan.intent, uid)


async def _write(run: Execution, desired: Desired, step: Step, live: Manifest | None) -> WriteResult:
    """Tries to write an object once. Raises `ObjectChanged` if it is not in the state that the step was decided on."""
    try:
        if step.action is Action.CREATED or live is None:
            return await _create(run, desired, live)
        return await _configure(run, desired, step, live)
    except (WriteConflict, AlreadyExists, FieldConflict) as error:
        raise ObjectChanged(error) from None
    except Unreachable as error:
        if error.maybe_done:
            raise ObjectChanged(error) from None
        raise


async def _create(run: Execution, desired: Desired, old: Manifest | None) -> WriteResult:
    """Creates an object, once the `old` one of its name, which is being deleted, is gone.

    Raises `AlreadyExists` or `WriteConflict` if another client has created one meanwhile, unless that may be taken over.
    """
    if old is not None and (other := await wait_until_gone(run, old, stop=run.options.stop)) is not None:
        raise _made_again(desired, other)
    kind, policy = Kind.of(desired.manifest), desired.policy
    manifest = prepared(await with_owner_uid(run, desired, desired.manifest), await run.schema(kind))
    if policy.create_only:
        resource = await run.cluster.resource(kind)
        create = partial(run.cluster.create, resource, manifest, manager=run.manager, dry_run=run.options.dry_run)
        after = await _as_created(run, desired, manifest, await run.write(create, kind))
    elif not policy.adopt or run.options.exact:
        after = await apply_new(run, manifest)
    else:
        created: list[bool] = []
        after = await apply_manifest(run, manifest, force=False, on_created=lambda: created.append(True))
        return _created(run, desired, after, is_new=bool(created))
    run.notify_written(after)
    return WriteResult(Action.CREATED, "", after)


async def _as_created(run: Execution, desired: Desired, manifest: Manifest, after: Manifest) -> Manifest:
    """Returns an object that was just created with the labels of its manifest, where admission has changed those that it follows.

    A pod that is without its controller, or that nobody would see, is deleted again: who looks for it by its owner, or by a label, would
    not find it, and create one more by another name, without end. What is found by its name stays. Raises `TakenBack`.
    """
    if run.options.dry_run:
        return after
    is_pod = desired.ref[:2] == POD
    if is_pod and controllers_of(manifest) != controllers_of(after):
        raise await _taken_back(run, after, f"metadata.ownerReferences, so that {desired.owner} does not control it")
    labels = [pointer for pointer in desired.policy.follows if pointer.startswith(LABELS)]
    if not (patch := follow(manifest, after, labels).patch):
        return after
    run.notify_written(after)
    resource, ref = await run.cluster.resource(Kind.of(after)), desired.ref
    patch.insert(0, {"op": "test", "path": "/metadata/uid", "value": uid_of(after)})
    after = await run.request(partial(run.cluster.patch, resource, ref.namespace, ref.name, patch, manager=run.manager))
    if labels_left := follow(manifest, after, labels).changes if is_pod and run.options.is_unseen(ref) else []:
        raise await _taken_back(run, after, f"{what_differs(labels_left)}, so that no watch shows it")
    return after


async def _taken_back(run: Execution, after: Manifest, what: str) -> TakenBack:
    """Deletes an object that was just created; returns the error that says what admission has changed."""
    resource, ref = await run.cluster.resource(Kind.of(after)), Ref.of(after)
    with suppress(NotFound, WriteConflict):
        await run.request(partial(run.cluster.delete, resource, ref.namespace, ref.name, uid=uid_of(after)))
    return TakenBack(422, "Invalid", f"an admission webhook changes {what}")


def _created(run: Execution, desired: Desired, after: Manifest, *, is_new: bool) -> WriteResult:
    """Returns the result of an apply to an object that did not exist: created, or configured if another client was faster.

    `is_new` distinguishes two runs under one manager, which managedFields cannot.
    """
    run.notify_written(after)
    ours = run.manager_of(desired.ref)
    others = listed(dict.fromkeys(name for entry in entries_of(after) if (name := str(entry.get("manager"))) != ours))
    if is_new and not others:
        return WriteResult(Action.CREATED, "", after)
    return WriteResult(Action.CONFIGURED, f"was created meanwhile by {others or f'another run of {ours}'}", after)


async def _configure(run: Execution, desired: Desired, step: Step, before: Manifest) -> WriteResult:
    """Applies to the live object; recreates it if fields are immutable and the policy allows that."""
    if step.patch:
        return await _follow(run, step, before)
    intent = await with_owner_uid(run, desired, revealed(step.intent or desired.manifest, desired.manifest))
    resource = await run.cluster.resource(Kind.of(intent))
    if emptied := emptied_parts(intent, before, await run.schema(resource.kind), manager=run.manager_of(desired.ref)):
        intent, live = await empty_first(run, resource, intent, before, emptied)
    else:
        live = before
    live = await repair_ownership(run, desired, resource, live)
    try:
        after = await apply_to_live(run, desired, intent, live, force=step.force, exact=run.options.exact)
    except UnresolvedConflicts as blocked:
        return WriteResult(Action.HELD, what_conflicts(blocked.conflicts), live, blocked.conflicts)
    except Invalid as error:
        if is_other_object(error):
            raise ObjectChanged(error) from None
        if not is_immutable(error):
            raise
        # Only the server's rejection leads to a deletion, never the prediction of `applier.plan.immutable` alone.
        if not desired.policy.recreate:
            return WriteResult(Action.HELD, f"{error}; {RECREATE}", live)
        return await _recreate(run, desired, live, str(error))
    if is_terminating(after):
        raise ObjectChanged(WriteConflict(409, "Conflict", f"{desired.ref} {being_deleted(after)}"))
    run.notify_written(after)
    return WriteResult(Action.UNCHANGED if _is_same(run, before, after) else Action.CONFIGURED, "", after)


async def _follow(run: Execution, step: Step, before: Manifest) -> WriteResult:
    """Patches the places that follow the graph. Raises `ObjectChanged` if another object has the name, or these places have changed."""
    resource = await run.cluster.resource(Kind.of(before))
    patch = [{"op": "test", "path": "/metadata/uid", "value": uid_of(before)}, *step.patch]
    write = partial(run.cluster.patch, resource, step.ref.namespace, step.ref.name, patch, manager=run.manager, dry_run=run.options.dry_run)
    try:
        after = await run.request(write)
    except Invalid as error:
        if not error.causes:  # a failed `test` operation; an invalid result has causes
            raise ObjectChanged(error) from None
        raise
    run.notify_written(after)
    return WriteResult(Action.UNCHANGED if _is_same(run, before, after) else Action.CONFIGURED, "", after)


async def _recreate(run: Execution, desired: Desired, live: Manifest, reason: str) -> WriteResult:
    """Deletes this object, waits until it is gone, and creates it again. After a crash in between, the next run creates it."""
    other = await delete_and_wait(run, live)
    if other is not None:
        raise _made_again(desired, other)
    if run.options.dry_run:
        return WriteResult(Action.RECREATED, reason, live)
    created = await _create(run, desired, None)
    return WriteResult(Action.RECREATED, reason, created.live)


def _made_again(desired: Desired, other: Manifest) -> ObjectChanged:
    return ObjectChanged(AlreadyExists(409, "AlreadyExists", f"{desired.ref} was recreated by {manager_names(other)}"))


def _is_same(run: Execution, before: Manifest, after: Manifest) -> bool:
    """Reports whether a write changed nothing. In a dry run, which returns no new resourceVersion, the objects are compared."""
    if not run.options.dry_run:
        return resource_version_of(before) == resource_version_of(after)
    return bool(_content(hide_secrets(before)) == _content(hide_secrets(after)))


def _content(manifest: Manifest) -> Any:
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in ("resourceVersion", "managedFields", "generation")}
    entries = [{**entry, "time": ""} for entry in manifest["metadata"].get("managedFields") or ()]
    return {**manifest, "metadata": metadata}, entries
